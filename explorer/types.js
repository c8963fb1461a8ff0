// Types that several modules share. JSON of a server is `any` until a module has looked at it.

/**
 * A resource as the lists hold it: only what a row shows, because there may be 100,000.
 * @typedef {object} Item
 * @property {string} uri
 * @property {string} name
 * @property {boolean} isCollection
 * @property {string} [mime]
 * @property {string} [description]
 * @property {number} [size]
 * @property {number} [modified] milliseconds since 1970
 * @property {number} [priority]
 */

/**
 * Where the page is.
 * @typedef {object} Route
 * @property {"home" | "resource" | "search" | "templates" | "tools" | "prompts" | "basket"} view
 * @property {string} [uri]
 * @property {number} [line]
 * @property {string} [name] the tool, template or prompt
 * @property {string} [query]
 */

/**
 * A mount of refdesk, as its status resource tells.
 * @typedef {object} MountStatus
 * @property {string} name
 * @property {string} kind
 * @property {string | null} root
 * @property {string} state
 * @property {string} [since]
 * @property {string | null} [words]
 * @property {{ at?: string, words?: string }} [last_error]
 * @property {Record<string, any>} [counts]
 * @property {Record<string, any>} [index]
 * @property {any} facts the whole status
 */

/**
 * What one call to the server's read gives.
 * @typedef {object} ContentPart
 * @property {string} uri
 * @property {string} mime
 * @property {string} [text]
 * @property {string} [blob]
 * @property {any} meta
 * @property {any} window
 */

/**
 * @typedef {object} ReadOptions
 * @property {string[]} [accept]
 * @property {Record<string, any>} [window]
 * @property {AbortSignal} [signal]
 */

/** @typedef {{ name: string, title?: string, description?: string, inputSchema?: any, annotations?: any }} Tool */
/** @typedef {{ uriTemplate: string, name: string, title?: string, description?: string, _meta?: any }} Template */
/** @typedef {{ name: string, title?: string, description?: string, arguments?: any[] }} Prompt */

export {};
