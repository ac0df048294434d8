import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { LANGUAGES, readCatalogue } from '../messages/catalogues.ts'
import { compileMessages, PSEUDO, translationInto } from '../messages/compile.ts'
import { missingTexts } from '../messages/plugin.ts'

/** Language of the sources. */
const [BASE] = LANGUAGES

/** Folder of the page's sources. */
export const folder = resolve(import.meta.dirname, 'client')
/** Writes the texts of one language into the scripts. */
const messages = (language: string, catalogue: Readonly<Record<string, string>>): Plugin => ({
  name: 'messages',
  setup({ onLoad, onEnd }) {
    const translation = translationInto(language, catalogue)
    const missing = new Set<string>()
    onLoad({ filter: /[\\/]web[\\/].*\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8')
      return { contents: compileMessages(code, path, translation, (key) => missing.add(key)), loader: 'ts' }
    })
    onEnd(() => {
      if (missing.size > 0) throw new Error(missingTexts(`web/messages/${language}`, missing))
    })
  },
})

/** Builds the page's script in one language, and its style. */
export const buildIn = async (language: string) =>
  build({
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
    define: { PAGE_LANGUAGE: JSON.stringify(language) },
    plugins: [
      messages(language, language === BASE || language === PSEUDO ? {} : await readCatalogue(language, 'consent')),
    ],
  })

type Built = Awaited<ReturnType<typeof buildIn>>

/** Packs a script or style, with its Content-Security-Policy source expression. */
export const packed = ({ outputFiles }: Built, extension: string) => {
  const text = outputFiles.find(({ path }) => path.endsWith(extension))?.text.trim() ?? ''
  const deflated = deflateRawSync(text, { level: 9 }).toString('base64')
  return { packed: deflated, hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'` }
}
