import type { Plugin } from 'vite'
import { compileMessages, type Translation } from './compile.ts'

/** Describes missing texts, with what to do. */
export const missingTexts = (catalogue: string, keys: Iterable<string>): string =>
  `These texts have no translation in ${catalogue}. Add them:\n${[...keys].map((key) => `  ${JSON.stringify(key)}`).join('\n')}`

/** Writes the texts of one language into the scripts of a page. A text without a translation fails the build. */
export const messages = (language: string, translation: Translation): Plugin => {
  const missing = new Set<string>()
  return {
    name: 'messages',
    enforce: 'pre',
    transform(code, id) {
      const file = id.split('?')[0] ?? ''
      if (!/[\\/]web[\\/].*\.tsx?$/.test(file) || file.includes('node_modules')) return undefined
      const compiled = compileMessages(code, file, translation, (key) => missing.add(key))
      return compiled === code ? undefined : { code: compiled, map: null }
    },
    buildEnd() {
      if (missing.size > 0) this.error(missingTexts(`web/messages/${language}`, missing))
    },
  }
}
