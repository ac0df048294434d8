import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { findCalls, findUntranslated, keyOf, type MessageCall } from './calls.ts'
import { LANGUAGES } from './catalogues.ts'
import { parsePair } from './compile.ts'
import { missingTexts } from './plugin.ts'

export const ROOT = join(import.meta.dirname, '../..')

/** Sources, and the catalogue of their texts. */
interface Surface {
  name: string
  /** Patterns of source files. */
  sources: string[]
  /** Path of the catalogue in a language. */
  catalogue: (language: string) => string
}

const page = (name: string, ...sources: string[]): Surface => ({
  name,
  sources,
  catalogue: (language) => `web/messages/${language}/${name}.json`,
})

/** Parts that the pages share come first: pages use their texts, too. */
export const SURFACES: readonly Surface[] = [
  page('shared', 'web/{ui,session}/**/*.{ts,tsx}'),
  page('console', 'web/console/client/**/*.{ts,tsx}'),
  page('developers', 'web/developers/client/**/*.{ts,tsx}'),
  page('consent', 'web/consent/client/**/*.ts'),
  {
    name: 'server',
    sources: ['{shared,functions}/**/*.ts', 'web/*/page.ts'],
    catalogue: (language) => `shared/kernel/messages/${language}.json`,
  },
]

/** Finds a surface's messages with the files that they are in. */
export const messagesOf = async ({ sources }: Surface): Promise<{ file: string; call: MessageCall }[]> => {
  const files = globSync(sources, { cwd: ROOT }).sort()
  const found = await Promise.all(
    files.map(async (file) => {
      const code = await readFile(join(ROOT, file), 'utf8')
      return findCalls(code, file).map((call) => ({ file, call }))
    }),
  )
  return found.flat()
}

/** Sources whose text is the same in all languages: pictures of components for developers of the platform. */
const NOT_TRANSLATED = /\/gallery\.tsx$/

/** Finds text in JSX that isn't a message. @returns a problem for each */
export const checkUntranslated = async (): Promise<string[]> => {
  const files = globSync(
    SURFACES.flatMap(({ sources }) => sources),
    { cwd: ROOT },
  ).filter((file) => file.endsWith('.tsx') && !NOT_TRANSLATED.test(file))
  const found = await Promise.all(
    files
      .sort()
      .map(async (file) =>
        findUntranslated(await readFile(join(ROOT, file), 'utf8'), file).map(
          ({ line, text }) => `${file}:${line} isn’t translated: ${JSON.stringify(text)}. Write it as t('…').`,
        ),
      ),
  )
  return found.flat()
}

const readJson = async (file: string): Promise<Record<string, string>> =>
  JSON.parse(await readFile(join(ROOT, file), 'utf8'))

/** Compares the sources with the catalogues. @returns the problems: a missing or unused text, or one with other values */
export const checkCatalogues = async (): Promise<string[]> => {
  const problems: string[] = []
  for (const language of LANGUAGES.filter((one) => one !== 'en')) {
    let common: Record<string, string> = {}
    for (const surface of SURFACES) {
      const file = surface.catalogue(language)
      const own = await readJson(file)
      const inherited = surface.name === 'server' ? {} : common
      const unused = new Set(Object.keys(own))
      const missing = new Set<string>()
      for (const { file: source, call } of await messagesOf(surface)) {
        const key = keyOf(call)
        unused.delete(key)
        try {
          if (!parsePair(call, () => own[key] ?? inherited[key])) missing.add(key)
        } catch (error) {
          problems.push(`${relative('.', source)}:${call.line} “${key}” ${(error as Error).message}`)
        }
      }
      if (missing.size > 0) problems.push(missingTexts(file, missing))
      for (const key of unused) problems.push(`${file} has a text that nothing uses: ${JSON.stringify(key)}`)
      if (surface.name === 'shared') common = own
    }
  }
  return problems
}
