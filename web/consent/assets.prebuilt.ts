import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { buildSync } from 'esbuild'

const folder = resolve(import.meta.dirname, 'client')

const { outputFiles, metafile } = buildSync({
  absWorkingDir: folder,
  entryPoints: ['main.ts', 'style.css'],
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'iife',
  // Supports Telegram's older web views.
  target: ['es2020', 'safari15'],
  charset: 'utf8',
  legalComments: 'none',
  metafile: true,
  write: false,
})

const built = (extension: string) => {
  const text = outputFiles.find(({ path }) => path.endsWith(extension))?.text.trim() ?? ''
  const packed = deflateRawSync(text, { level: 9 }).toString('base64')
  return { packed, hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'` }
}

/**
 * The page's script and style, each with its Content-Security-Policy source expression. They are deflated because every
 * cold start loads them but few requests render them.
 */
export const SCRIPT = built('.js')
export const STYLE = built('.css')

/** @public Extra files that a watching build tracks. */
export const watchFiles = Object.keys(metafile.inputs).map((path) => resolve(folder, path))
