import { WorkspaceEntity } from '../../entities/people.ts'
import { PlatformError } from '../../kernel/errors.ts'
import type { Work } from '../deps.ts'
import { arrive } from '../people/arrival.ts'
import { joinedBy, joinWrites, previewInvitation } from '../people/join.ts'
import { type TelegramPerson, telegramIdentity } from '../people/telegram/person.ts'
import { tryAgain } from '../try-again.ts'
import type { Claim } from './claim.ts'
import { endedInvitation } from './ended-invitation.ts'
import type { Pressed } from './read-update.ts'
import { acknowledge, replaceQuestion } from './reply.ts'
import { type Texts, textsFor } from './texts.ts'

/** What stands behind the buttons: at most 64 bytes. */
export const JOIN = 'join:'
export const NOT_NOW = 'nojoin'

/** Answers a pressed button. */
export const answerPress = async (work: Work, claim: Claim, pressed: Pressed): Promise<void> => {
  const { data, person } = pressed
  const texts = textsFor(person.locale)
  if (data === NOT_NOW) return replaceQuestion(work, pressed, texts.notJoined)
  if (!data.startsWith(JOIN)) return acknowledge(work, pressed)
  const text = await joined(work, claim, texts, person, data.slice(JOIN.length))
  return replaceQuestion(work, pressed, text)
}

/**
 * Makes the person a member, and themselves known if they were not, in one transaction that the update remembers: should
 * this request die before it has said so, the next one says it, and does not find the invitation used up by somebody.
 * @returns what to say
 */
const joined = async (
  work: Work,
  claim: Claim,
  texts: Texts,
  person: TelegramPerson,
  nonce: string,
): Promise<string> => {
  const { joinedWorkspaceId: id } = claim
  if (id !== undefined) return texts.joined((await work.table.get(WorkspaceEntity, { id }))?.name ?? '')
  const preview = await previewInvitation(work, nonce)
  if (!preview) return endedInvitation(work, texts, person, nonce)
  const { workspace } = preview
  try {
    return await tryAgain(async () => {
      const comer = { ...person, identity: telegramIdentity(person), home: workspace.id }
      const { user, writes } = await arrive(work, comer)
      const joining = await joinWrites(work, preview, user)
      if (joining.length === 0) {
        const used = await joinedBy(work, nonce, user.id)
        return used ? texts.joined(used.name) : texts.alreadyIn(workspace.name)
      }
      await work.table.transact([...joining, ...writes, claim.joined(workspace.id)])
      return texts.joined(workspace.name)
    })
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'not_found') return endedInvitation(work, texts, person, nonce)
    if (error.code === 'forbidden') return texts.blocked
    throw error
  }
}
