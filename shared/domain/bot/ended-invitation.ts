import type { Deps } from '../deps.ts'
import { personBy } from '../people/arrival.ts'
import { joinedBy } from '../people/join.ts'
import { type TelegramPerson, telegramIdentity } from '../people/telegram/person.ts'
import type { Texts } from './texts.ts'

/**
 * What is said of an invitation that cannot be used: that it is over, but not to the person who used it and is in by it.
 * A button pressed twice reaches the bot as two updates, and the second must not take the first one's answer back.
 */
export const endedInvitation = async (
  deps: Pick<Deps, 'table'>,
  texts: Texts,
  person: TelegramPerson,
  nonce: string,
): Promise<string> => {
  const user = await personBy(deps, telegramIdentity(person))
  const workspace = user && (await joinedBy(deps, nonce, user.id))
  return workspace ? texts.joined(workspace.name) : texts.invitationOver
}
