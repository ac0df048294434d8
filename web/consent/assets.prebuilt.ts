import { join, resolve } from 'node:path'
import { LANGUAGES } from '../messages/catalogues.ts'
import { buildIn, folder, packed } from './build.ts'

const catalogues = resolve(import.meta.dirname, '../messages')

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
