import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** One file that the docs function serves; `docs-assets/docs-files.json` is the table of them. */
export interface DocsFile {
  /** Path below the platform's base address. */
  path: string
  contentType: string
  /** True when the name changes with the content, so that it may be kept for a year. */
  immutable: boolean
  /** Headers beside content type and length. */
  headers: Record<string, string>
  /** Its name in the table's folder. API Gateway compresses what goes out. */
  file: string
  /** SHA-256 of the plain content in hex, for an `ETag`. */
  hash: string
}

/**
 * No host but the page's own, no inline script. Inline style is needed: the reference's engine sets styles as it runs.
 * `data:` images are the engine's icons.
 */
const DOCS_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/** Writes a page; it is checked again at each visit. */
export const writePage = (outDir: string, path: string, file: string, html: string): Promise<DocsFile> =>
  writeText(outDir, path, file, html, {
    'cache-control': 'public, max-age=0, must-revalidate',
    'content-security-policy': DOCS_SECURITY_POLICY,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })

/** Writes Markdown or plain text, which programs on any origin may read; kept a while, as it changes with a deployment only. */
export const writeMarkdown = (outDir: string, path: string, file: string, text: string): Promise<DocsFile> =>
  writeText(outDir, path, file, text, {
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  })

const writeText = async (
  outDir: string,
  path: string,
  file: string,
  text: string,
  headers: Record<string, string>,
): Promise<DocsFile> => {
  const content = Buffer.from(text)
  await writeFile(join(outDir, file), content)
  return { path, contentType: TYPES[extname(file)] ?? '', immutable: false, headers, file, hash: hashOf(content) }
}

/** Writes an asset under a name with its hash, `/docs/assets/<name>-<hash>.<ext>`. */
export const writeAsset = async (outDir: string, name: string, content: Buffer): Promise<DocsFile> => {
  const hash = hashOf(content)
  const extension = extname(name)
  const file = `${name.slice(0, -extension.length)}-${hash.slice(0, 16)}${extension}`
  await writeFile(join(outDir, file), content)
  return {
    path: `/docs/assets/${file}`,
    contentType: TYPES[extension] ?? 'application/octet-stream',
    immutable: true,
    headers: { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' },
    file,
    hash,
  }
}
