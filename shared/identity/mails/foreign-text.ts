import { cleanName } from '#shared/kernel/names.ts'

const WORD_JOINER = '\u2060'

/**
 * Keeps mail programs from making links of addresses, with or without a scheme, in texts of others: an e-mail of the platform leads
 * to the platform only.
 */
export const unlink = (text: string): string => text.replaceAll(/(?<=\S)(?=:\/\/|\.\S|@)/g, WORD_JOINER)

/** Returns the name of an account, an app or a person as an e-mail may show it, within quotation marks or without. */
export const nameInMail = (name: string): string => unlink(cleanName(name).replaceAll(/["“”„‟«»＂〝〞]/g, '’'))
