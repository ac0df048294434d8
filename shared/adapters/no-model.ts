import type { LanguageModel } from '../domain/ports.ts'

/** For functions that have nothing to do with the language model: they carry no client of it and know no key. */
export const noModel: LanguageModel = {
  turn() {
    throw new Error('this function does not declare the capability model')
  },
}
