import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Languages into which the pages are translated. English is in the sources. */
export const LANGUAGES = ['en', 'de'] as const

/** Reads the texts of a language: those of the parts that pages share, and a page's own. */
export const readCatalogue = async (language: string, page: string): Promise<Record<string, string>> => {
  const read = async (name: string): Promise<Record<string, string>> =>
    JSON.parse(await readFile(join(import.meta.dirname, language, `${name}.json`), 'utf8'))
  return { ...(await read('shared')), ...(await read(page)) }
}
