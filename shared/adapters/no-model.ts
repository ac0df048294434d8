import type { LanguageModel } from '../kernel/ports/language-model.ts'

/**
 * Stand-in for functions without the capability `model`. They carry no client of the language model and know no key.
 */
export const noModel: LanguageModel = {
  turn() {
    throw new Error('this function does not declare the capability model')
  },
}
