import { createHash } from 'node:crypto'

/** A person who writes to the bot: Telegram's `User`. */
export interface Person {
  id: number
  is_bot: false
  first_name: string
  last_name?: string
  username?: string
  language_code?: string
}

/**
 * Input for a person. Without an id, the id derives from the name, so that the same name is the same person after a
 * restart.
 */
export type GivenPerson = Pick<Person, 'first_name' | 'last_name' | 'username' | 'language_code'> & { id?: number }

const SMALLEST = 1_000_000_000
/** Ids have up to 52 significant bits. Most people's ids have ten digits today. */
const SPREAD = 8_000_000_000

const idOf = (name: string): number => {
  const hash = createHash('sha256').update(name.trim().toLowerCase()).digest()
  return SMALLEST + (hash.readUIntBE(0, 6) % SPREAD)
}

export const personOf = ({ id, first_name, ...rest }: GivenPerson): Person => ({
  id: id ?? idOf(first_name),
  is_bot: false,
  first_name,
  language_code: 'en',
  ...rest,
})
