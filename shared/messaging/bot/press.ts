import type { Work } from '#shared/foundation/work/index.ts'
import {
  findJoinedWorkspace,
  joinWrites,
  loadInvitation,
  resolvePerson,
  type TelegramPerson,
  telegramIdentity,
  WorkspaceEntity,
} from '#shared/identity/people/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { endedInvitationReply } from './ended-invitation.ts'
import { answerQuestionButton, isQuestionButton } from './questions.ts'
import type { Pressed } from './read-update.ts'
import { acknowledge, replaceQuestion } from './reply.ts'
import { type Texts, textsFor } from './texts.ts'
import type { UpdateLease } from './update-lease.ts'

/** Callback data of the buttons: at most 64 bytes. */
export const JOIN = 'join:'
export const NOT_NOW = 'nojoin'

/** Answers a pressed button. */
export const answerPress = async (work: Work, claim: UpdateLease, pressed: Pressed): Promise<void> => {
  const { data, person } = pressed
  const texts = textsFor(person.locale)
  if (data === NOT_NOW) return replaceQuestion(work, pressed, texts.notJoined)
  if (isQuestionButton(data)) return answerQuestionButton(work, claim, pressed)
  if (!data.startsWith(JOIN)) return acknowledge(work, pressed)
  const text = await joined(work, claim, texts, person, data.slice(JOIN.length))
  return replaceQuestion(work, pressed, text)
}

/**
 * Adds the person to the workspace, and creates their user if needed, in one transaction that the update records. If
 * this request dies before replying, the next attempt reports success instead of a used invitation.
 * @returns the reply
 */
const joined = async (
  work: Work,
  claim: UpdateLease,
  texts: Texts,
  person: TelegramPerson,
  nonce: string,
): Promise<string> => {
  const { joinedWorkspaceId: id } = claim
  if (id !== undefined) return texts.joined((await work.table.get(WorkspaceEntity, { id }))?.name ?? '')
  try {
    return await retryOnConflict(async () => {
      const preview = await loadInvitation(work, nonce)
      if (!preview) return endedInvitationReply(work, texts, person, nonce)
      const { workspace } = preview
      const newcomer = { ...person, identity: telegramIdentity(person), home: workspace.id }
      const { user, writes } = await resolvePerson(work, newcomer)
      const joining = await joinWrites(work, preview, user)
      if (joining.length === 0) {
        const used = await findJoinedWorkspace(work, nonce, user.id)
        return used ? texts.joined(used.name) : texts.alreadyIn(workspace.name)
      }
      await work.table.transact([...joining, ...writes, claim.joined(workspace.id)])
      return texts.joined(workspace.name)
    })
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    if (error.code === 'not_found') return endedInvitationReply(work, texts, person, nonce)
    if (error.code === 'forbidden') return texts.blocked(work.settings.brand.supportUrl)
    throw error
  }
}
