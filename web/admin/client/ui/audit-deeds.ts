import { type AuditedEntry, isolate, deedOf as workspaceDeed } from '../../../ui/audit-deeds.ts'

type Sentence = (entry: { on: string; details: Record<string, unknown>; fields: string }) => string

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Predicates of the sentences for actions outside of workspaces. Each follows the actor's name. */
const DEEDS: Record<string, Sentence> = {
  'abuse.resolved': ({ details }) => `closed an abuse report: ${text(details.resolution).replaceAll('_', ' ')}`,
  'admin.confirmed': () => 'confirmed that it’s them',
  'admin.created': ({ on }) => `created the admin account of ${on}`,
  'admin.deleted': ({ on }) => `deleted the admin account of ${on}`,
  'admin.edited': ({ on, fields }) => `changed the admin account of ${on}${fields}`,
  'admin.key_created': ({ on }) => `created a key for ${on}`,
  'admin.key_deleted': ({ on }) => `deleted a key of ${on}`,
  'admin.key_rotated': ({ on }) => `rotated a key of ${on}`,
  'admin.passkey_added': ({ on }) => `added a passkey for ${on}`,
  'admin.passkey_counter_refused': () => 'was refused a sign-in with a passkey that may have been copied',
  'admin.passkey_removed': ({ on }) => `removed a passkey of ${on}`,
  'admin.passkeys_reset': ({ on }) => `removed all passkeys of ${on}`,
  'admin.password_accepted': () => 'gave the right password',
  'admin.password_changed': ({ on }) => `changed the password of ${on}`,
  'admin.sign_in_failed': () => 'failed to sign in',
  'admin.signed_in': () => 'signed in',
  'admin.signed_out': ({ on, details }) =>
    details.all
      ? `signed ${on} out everywhere`
      : `ended ${details.others ? 'the other sessions' : 'a session'} of ${on}`,
  'agent_request.claimed': () => 'took on an agent from the wishlist',
  'agent_request.status_changed': () => 'changed the status of an agent on the wishlist',
  'app.approved': ({ on }) => `approved ${on}`,
  'app.claim_released': ({ on }) => `gave up the review of ${on}`,
  'app.claimed': ({ on }) => `took on the review of ${on}`,
  'app.created': ({ on }) => `created the app ${on}`,
  'app.curated': ({ on, fields }) => `changed the place of ${on} in the marketplace${fields}`,
  'app.deleted': ({ on }) => `deleted the app ${on}`,
  'app.delisted': ({ on }) => `removed ${on} from the marketplace`,
  'app.message_sent': ({ on }) => `wrote to the developer of ${on}`,
  'app.rejected': ({ on }) => `rejected ${on}`,
  'app.screenshot_uploaded': ({ on }) => `uploaded a screenshot of ${on}`,
  'app.secret_rotated': ({ on }) => `rotated the client secret of ${on}`,
  'app.signing_secret_rotated': ({ on }) => `rotated the signing secret of ${on}`,
  'app.submitted': ({ on }) => `submitted ${on} for review`,
  'app.suspended': ({ on }) => `suspended ${on}`,
  'app.test_installed': ({ on }) => `tested ${on}`,
  'app.unsuspended': ({ on }) => `lifted the suspension of ${on}`,
  'app.updated': ({ on, fields }) => `changed the app ${on}${fields}`,
  'developer.blocked': ({ on }) => `blocked the developer ${on}`,
  'developer.email_proof_requested': () => 'asked for a link to prove their e-mail address',
  'developer.email_proven': () => 'proved their e-mail address',
  'developer.key_created': () => 'created a key',
  'developer.key_deleted': () => 'deleted a key',
  'developer.key_edited': ({ fields }) => `changed a key${fields}`,
  'developer.key_recovered': () => 'got a new key by e-mail',
  'developer.key_rotated': () => 'rotated a key',
  'developer.member_invited': () => 'invited a teammate',
  'developer.member_joined': () => 'got a teammate who accepted an invitation',
  'developer.member_removed': () => 'removed a teammate',
  'developer.member_role_changed': () => 'changed the role of a teammate',
  'developer.passkey_added': () => 'added a passkey',
  'developer.passkey_counter_refused': () => 'was refused a sign-in with a passkey that may have been copied',
  'developer.passkey_removed': () => 'removed a passkey',
  'developer.recovery_requested': () => 'asked for a recovery code',
  'developer.registered': () => 'registered',
  'developer.session_ended': () => 'signed out',
  'developer.session_started': () => 'signed in',
  'developer.sessions_ended': () => 'ended other sessions',
  'developer.sign_in_requested': () => 'asked for a sign-in code',
  'developer.unblocked': ({ on }) => `unblocked the developer ${on}`,
  'developer.vendor_claimed': () => 'claimed a vendor name',
  'developer.verified': ({ on }) => `verified the developer ${on}`,
  'export.begun': ({ details }) => `exported ${text(details.dataset) || 'data'}`,
  'installation.suspended': ({ on }) => `suspended ${on} in a workspace`,
  'installation.unsuspended': ({ on }) => `lifted the suspension of ${on} in a workspace`,
  'platform.denied_tools_changed': () => 'changed which tools no agent may use',
  'platform.pm_identity_changed': () => 'changed the assistant’s name and picture',
  'review.hidden': () => 'hid a review',
  'review.replied': () => 'replied to a review',
  'review.shown': () => 'showed a review again',
  'revision.approved': ({ on }) => `approved changes to the listing of ${on}`,
  'revision.rejected': ({ on }) => `rejected changes to the listing of ${on}`,
  'sandbox.invite_renewed': () => 'renewed the link into their sandbox',
  'sandbox.opened': () => 'opened their sandbox',
  'user.deleted': () => 'deleted their account',
  'verification.approved': () => 'approved the verification of a developer',
  'verification.rejected': () => 'rejected the verification of a developer',
  'verification.requested': () => 'applied for verification',
  'version.approved': ({ on }) => `approved a version of ${on}`,
  'version.promoted': ({ on }) => `promoted a version of ${on}`,
  'version.published': ({ on }) => `published a version of ${on}`,
  'version.rejected': ({ on }) => `rejected a version of ${on}`,
  'workspace.recovery_created': () => 'created a link that recovers a workspace',
  'workspace.suspended': () => 'suspended a workspace',
  'workspace.unsuspended': () => 'lifted the suspension of a workspace',
}

/** Returns what an entry's actor did, in a workspace or outside of one. Undefined for actions that have no sentence. */
export const deedOf = (entry: AuditedEntry, fullTime: (at: string) => string): string | undefined => {
  const { action, subject, before, after, details } = entry
  const changed = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const fields = changed.length > 0 ? ` (${changed.join(', ')})` : ''
  return DEEDS[action]?.({ on: isolate(subject.name ?? subject.id), details, fields }) ?? workspaceDeed(entry, fullTime)
}
