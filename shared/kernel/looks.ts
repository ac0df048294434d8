import { createHash } from 'node:crypto'

/** Loaded at its first use: the table would slow down each cold start. */
type Confusables = typeof import('unicode-confusables')

/** Skeleton of a text (UTS 39 §4): texts with the same skeleton look alike. */
const skeletonOf = (text: string, { rectifyConfusion }: Confusables): string =>
  rectifyConfusion(text.normalize('NFD').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')).normalize('NFD')

const fold = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Drops what separates words, if anything else remains: “Stock-Helper” reads as “stock helper”. */
const joined = (text: string): string => text.replaceAll(/[\p{Z}\p{P}]/gu, '') || text

/**
 * Returns what a name looks like, as hashes. Two names are confusable if they share one. Case and the characters between
 * words make no difference. Folding case before and after mapping finds both `PayPaI` and `PAYPAL`.
 */
export const looksOf = async (name: string): Promise<string[]> => {
  const confusables = await import('unicode-confusables')
  const looks = [name, fold(name)].map((one) => joined(fold(skeletonOf(one, confusables))))
  return [...new Set(looks)].map((look) => createHash('sha256').update(look).digest('base64url'))
}
