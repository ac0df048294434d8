import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { LANGUAGES, readCatalogue } from '../messages/catalogues.ts'
import { compileMessages, translationInto } from '../messages/compile.ts'
import { missingTexts } from '../messages/plugin.ts'

const folder = resolve(import.meta.dirname, 'client')
const catalogues = resolve(import.meta.dirname, '../messages')

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

const buildIn = async (language: string) =>
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
    plugins: [messages(language, language === 'en' ? {} : await readCatalogue(language, 'consent'))],
  })

type Built = Awaited<ReturnType<typeof buildIn>>

const packed = ({ outputFiles }: Built, extension: string) => {
  const text = outputFiles.find(({ path }) => path.endsWith(extension))?.text.trim() ?? ''
  const deflated = deflateRawSync(text, { level: 9 }).toString('base64')
  return { packed: deflated, hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'` }
}

const english = await buildIn('en')
const scripts: Record<string, ReturnType<typeof packed>> = { en: packed(english, '.js') }
for (const language of LANGUAGES.filter((one) => one !== 'en'))
  scripts[language] = packed(await buildIn(language), '.js')

/**
 * The page's script by language, and its style, each with its Content-Security-Policy source expression. They are deflated
 * because every cold start loads them but few requests render them.
 */
export const SCRIPTS = scripts
export const STYLE = packed(english, '.css')

/** @public Extra files that a watching build tracks. */
export const watchFiles = [
  ...Object.keys(english.metafile.inputs).map((path) => resolve(folder, path)),
  ...LANGUAGES.filter((one) => one !== 'en').flatMap((one) =>
    ['shared', 'consent'].map((name) => join(catalogues, one, `${name}.json`)),
  ),
]
