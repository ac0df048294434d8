import {
  type AddPasskeyInput,
  beginAddingPasskey,
  beginPresentingPasskey,
  listPasskeys,
  noPasskey,
  ownerOfPresented,
  PASSKEY_REFUSALS,
  type Passkey,
  type PasskeyOptionsView,
  type PasskeyRefusal,
  type PasskeyView,
  type PresentPasskeyInput,
  presentPasskey,
  removePasskeyWrite,
  tooManyPasskeys,
  verifyAddedPasskey,
  verifyPresentedPasskey,
} from '#shared/foundation/passkeys/index.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { fail } from '#shared/kernel/errors.ts'
import { isId } from '#shared/kernel/ids.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { msg } from '#shared/kernel/messages.ts'
import { quoteName } from '#shared/kernel/names.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { either, gte, lt, missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { newNotification } from '../notifications/index.ts'
import { refuseStandIn } from './active.ts'
import { UserEntity, type Workspace } from './entity.ts'
import { requireRecentSignIn } from './recent-sign-in.ts'
import { resumePerson } from './resolve-person.ts'
import type { ConsoleSessionView } from './schemas.ts'
import { newSessionWrites, type SignedIn } from './sessions.ts'

type Caller = SignedIn & { workspace: Workspace }

/**
 * Starts adding a passkey to a person's account (`POST /console/passkeys/options`).
 * @throws `confirmation_required` if the sign-in will be older than 10 minutes when the ceremony ends; `conflict` for too many
 *   passkeys; `forbidden` for a stand-in
 */
export const beginPersonPasskey = (work: Work, caller: Caller): Promise<PasskeyOptionsView> => {
  refuseStandIn(caller.user)
  requireRecentSignIn(work, caller, 'Adding a passkey', LIMITS.passkeyChallengeLife)
  const { id, name } = caller.user
  return beginAddingPasskey(work, { id, name, displayName: name }, 'only')
}

/**
 * Adds a passkey (`POST /console/passkeys`), which signs in without the messaging app. The person is notified, since a
 * stolen session could add one too.
 * @throws `confirmation_required`, `validation_error` for a wrong credential, `conflict` for too many passkeys
 */
export const addPersonPasskey = async (work: Work, caller: Caller, input: AddPasskeyInput): Promise<PasskeyView> => {
  refuseStandIn(caller.user)
  requireRecentSignIn(work, caller, 'Changing passkeys')
  const { user } = caller
  const { passkey, writes } = await verifyAddedPasskey(work, user.id, input, 'only')
  const view = presentPasskey(passkey)
  const room = { status: 'active' as const, passkeys: either(missing, lt(LIMITS.passkeysPerAccount)) }
  await work.commit(
    [
      ...writes,
      UserEntity.update({ id: user.id }, { add: { passkeys: 1 } }, { where: room, otherwise: tooManyPasskeys }),
      ...tellWrites(work, caller, 'user.passkey_added', passkey),
    ],
    view,
  )
  return view
}

/**
 * Removes a passkey of the person (`DELETE /console/passkeys/{id}`).
 * @throws `not_found`, `confirmation_required`
 */
export const removePersonPasskey = async (work: Work, caller: Caller, id: string): Promise<void> => {
  const { user } = caller
  const passkey = (await listPasskeys(work, user.id)).find((one) => one.id === id)
  if (!passkey) throw noPasskey()
  requireRecentSignIn(work, caller, 'Changing passkeys')
  await work.commit([
    removePasskeyWrite(user.id, id),
    UserEntity.update(
      { id: user.id },
      { add: { passkeys: -1 } },
      { where: { passkeys: gte(1) }, otherwise: noPasskey },
    ),
    ...tellWrites(work, caller, 'user.passkey_removed', passkey),
  ])
}

/** Starts a sign-in with a passkey (`POST /console/passkeys/sign-in/options`). The browser offers those of this site. */
export const beginPasskeySignIn = (work: Work): Promise<PasskeyOptionsView> =>
  beginPresentingPasskey(work, 'sign_in', undefined, 'only')

/**
 * Signs a person in with a passkey (`POST /console/passkeys/sign-in`), to the same account as the messaging app does.
 * @throws `unauthorized` for a wrong answer, `forbidden` for a blocked person
 */
export const signInByPasskey = (work: Work, input: PresentPasskeyInput): Promise<ConsoleSessionView> =>
  retryOnConflict(async () => {
    const ownerId = ownerOfPresented(input)
    const found = isId('user', ownerId)
      ? await verifyPresentedPasskey(work, 'sign_in', ownerId, input, 'only')
      : { refusal: 'elsewhere' as const }
    if ('refusal' in found) {
      if (found.refusal === 'counter') await auditCounter(work, found.passkey)
      throw refused(found.refusal)
    }
    const user = await work.table.get(UserEntity, { id: ownerId })
    if (!user || user.status === 'deleted' || user.stand_in) throw refused('unknown')
    const { belonging, writes, checks, user: present } = await resumePerson(work, user)
    const opened = await newSessionWrites(work, present, belonging, 'passkey')
    await work.commit([...found.writes, ...writes, ...checks, ...opened.writes], opened.view)
    return opened.view
  })

/** Returns the writes that audit a change of someone's passkeys and notify them. */
const tellWrites = (
  work: Work,
  { user, workspace }: Caller,
  action: 'user.passkey_added' | 'user.passkey_removed',
  { id, name }: { id: string; name: string },
): Write[] => {
  const isAdded = action === 'user.passkey_added'
  return [
    auditPerson(
      work,
      { workspaceId: workspace.id, userId: user.id },
      action,
      { type: 'user', id: user.id },
      { passkey_id: id },
    ),
    ...newNotification(work, {
      workspace_id: workspace.id,
      user_id: user.id,
      kind: 'account.passkeys',
      title: isAdded ? msg('A passkey was added to your account') : msg('A passkey was removed from your account'),
      body: isAdded
        ? msg('{name} can now sign in as you. If you didn’t add it, remove it under Settings in the console.', {
            name: quoteName(name),
          })
        : msg(
            '{name} can no longer sign in as you. If you didn’t remove it, look at your passkeys under Settings in the console.',
            { name: quoteName(name) },
          ),
    }).writes,
  ]
}

/** Audits a passkey whose counter didn't rise, in the workspace that the person used last. */
const auditCounter = async (work: Work, { owner_id, id }: Passkey): Promise<void> => {
  const user = await work.table.get(UserEntity, { id: owner_id })
  if (!user) return
  const place = { workspaceId: user.home_workspace_id, userId: owner_id }
  const target = { type: 'user', id: owner_id }
  await work.table.transact([auditPerson(work, place, 'user.passkey_counter_refused', target, { passkey_id: id })])
}

const refused = (refusal: PasskeyRefusal) =>
  fail('unauthorized', { ...PASSKEY_REFUSALS[refusal], details: { passkey: refusal } })
