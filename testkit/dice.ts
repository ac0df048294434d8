/** Seeded random numbers. The same seed gives the same numbers, though not the same timing. */
export interface Dice {
  /** Returns a whole number from 0 to below `sides`. */
  below(sides: number): number
  /** Returns a number from 0 to below 1. */
  share(): number
  /** Returns true with the given probability, 0 to 1. */
  chance(probability: number): boolean
  /** Creates independent dice, so that using one doesn't change the numbers of the other. */
  fork(): Dice
}

/** @param seed any whole number */
export const dice = (seed: number): Dice => {
  let state = seed >>> 0
  const share = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const below = (sides: number): number => Math.floor(share() * sides)
  return { share, below, chance: (probability) => share() < probability, fork: () => dice(below(2 ** 32) ^ 0x9e3779b9) }
}

/** Picks from a list by weight. */
export const oneOf = <T extends { weight: number }>(roll: Dice, list: readonly T[]): T => {
  let left = roll.share() * list.reduce((sum, { weight }) => sum + weight, 0)
  const found = list.find(({ weight }) => {
    left -= weight
    return left < 0
  })
  if (!found) throw new Error('there is nothing to choose from')
  return found
}
