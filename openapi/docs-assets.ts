import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** A file that the pages function serves. `docs-assets/docs-files.json` lists all of them. */
export interface DocsFile {
  /** Path below the platform's base address. */
  path: string
  contentType: string
  /** True if the name changes with the content, so that the file can be cached for a year. */
  immutable: boolean
  /** Headers other than content type and length. */
  headers: Record<string, string>
  /** File name in the table's folder. Stored uncompressed, because API Gateway compresses responses. */
  file: string
  /** SHA-256 of the uncompressed content in hex, for the `ETag`. */
  hash: string
}

/** Allows a page what its own host serves, without inline scripts or styles, and no markup from text. */
const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

/** Writes a page, which browsers revalidate at each visit. */
export const writePage = (outDir: string, path: string, file: string, html: string): Promise<DocsFile> =>
  writeText(outDir, path, file, html, {
    'cache-control': 'public, max-age=0, must-revalidate',
    'content-security-policy': SECURITY_POLICY,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })

/** Writes Markdown or plain text, readable from any origin. Cacheable for a while, because it changes only with a deployment. */
export const writeMarkdown = (outDir: string, path: string, file: string, text: string): Promise<DocsFile> =>
  writeText(outDir, path, file, text, {
    'cache-control': 'public, max-age=300',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  })

/** Writes the search index. Cacheable for a while, as the texts that it leads to. */
export const writeIndex = (outDir: string, path: string, file: string, json: string): Promise<DocsFile> =>
  writeText(outDir, path, file, json, { 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' })

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

/** Writes an asset under a name that contains its hash: `/docs/assets/<name>-<hash>.<ext>`. */
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
