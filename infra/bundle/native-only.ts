/**
 * Takes the place of hashes written in JavaScript, and of the retry mode that nobody chooses, in the bundles (12 KB): Node.js has the
 * hashes itself, and the SDK asks for the others only where it has not.
 */
export const Sha256Js = undefined
export const Md5Js = undefined
export const Crc32Js = undefined

/** Would slow a client down by what it was refused before; `AWS_RETRY_MODE=adaptive` asks for it. */
export class AdaptiveRetryStrategy {
  constructor() {
    throw new Error('The adaptive retry mode is not part of the bundles')
  }
}
