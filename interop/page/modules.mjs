// Where interop/install has put the packages and programs that this suite uses; suite.py says so.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this suite. */
export const here = dirname(fileURLToPath(import.meta.url));

const { INTEROP_BUILD } = process.env;
if (!INTEROP_BUILD) throw new Error("INTEROP_BUILD is not set; run interop/page/suite.py");

export const build = INTEROP_BUILD;
export const modules = join(build, "page/node_modules");
export const python = join(build, "python-2/bin/python");
export const servers = join(here, "../servers");
