// A small PDF: pages of lines in Helvetica, and JavaScript for the hostile one.

/**
 * @param {string[][]} pages the lines of each page, in ASCII
 * @param {string} [script] what a reader would run when it opens the document
 */
export function pdf(pages, script) {
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(" ");
  const action = script ? ` /OpenAction << /S /JavaScript /JS (${escape(script)}) >> /AA << /WC << /S /URI /URI (http://evil.example/pdf) >> >>` : "";
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R${action} >>`,
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ...pages.flatMap((lines, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + at * 2} 0 R >>`,
      stream(`BT /F1 14 Tf 60 770 Td 22 TL ${lines.map((line) => `(${escape(line)}) Tj T*`).join(" ")} ET`),
    ]),
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  return `${text}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
}

/** @param {string} content */
function stream(content) {
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

/** @param {string} text */
function escape(text) {
  return text.replace(/[\\()]/g, "\\$&");
}
