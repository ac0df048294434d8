import type { Deps } from '#shared/foundation/work/index.ts'
import {
  findJoinedWorkspace,
  findPersonByIdentity,
  type TelegramPerson,
  telegramIdentity,
} from '#shared/identity/people/index.ts'
import type { Texts } from './texts.ts'

/**
 * Returns the reply to an invitation that can't be used anymore. The person who joined with it reads that they joined
 * instead. A button pressed twice reaches the bot as two updates, and the second reply must not contradict the first.
 */
export const endedInvitationReply = async (
  deps: Pick<Deps, 'table' | 'clock'>,
  texts: Texts,
  person: TelegramPerson,
  nonce: string,
): Promise<string> => {
  const user = await findPersonByIdentity(deps, telegramIdentity(person))
  const workspace = user && (await findJoinedWorkspace(deps, nonce, user.id))
  return workspace ? texts.joined(workspace.name) : texts.invitationOver
}
