import { Confirm } from '../../../ui/dialog.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Screen } from '../../../ui/screen.tsx'
import { identity, isAdmin, signOut } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { Bans, CrossAgent, PrimaryAgent } from './settings/agents.tsx'
import { Deletion } from './settings/deletion.tsx'
import { NamedForm } from './settings/named-form.tsx'
import { Passkeys } from './settings/passkeys.tsx'
import { Sessions } from './settings/sessions.tsx'

export default function Settings() {
  const who = identity.value
  if (!who) return null
  const { user, workspace, bans } = who
  return (
    <Screen title={t('Settings')}>
      <section class="card" aria-labelledby="you">
        <h2 id="you">{t('Your profile')}</h2>
        <NamedForm now={user} save={(body) => unwrap(api.PATCH('/console/me', { body }))} />
      </section>
      {!who.is_stand_in && (
        <section class="card" aria-labelledby="passkeys">
          <h2 id="passkeys">{t('Passkeys')}</h2>
          <Passkeys />
        </section>
      )}
      <section class="card" aria-labelledby="sessions">
        <h2 id="sessions">{t('Devices')}</h2>
        <Sessions />
      </section>
      <section class="card" aria-labelledby="workspace">
        <h2 id="workspace">{t('Workspace')}</h2>
        {!isAdmin.value && <p class="hint">{t('Workspace admins can change these settings.')}</p>}
        <NamedForm
          key={workspace.id}
          now={workspace}
          readOnly={!isAdmin.value}
          save={(body) => unwrap(api.PATCH('/console/workspace', { body }))}
        />
      </section>
      <section class="card" aria-labelledby="agents">
        <h2 id="agents">{t('Agents')}</h2>
        <PrimaryAgent />
        <CrossAgent enabled={who.cross_agent_enabled} />
      </section>
      <section class="card" aria-labelledby="approvals">
        <h2 id="approvals">{t('Approvals')}</h2>
        <p>{t('Who may approve which calls, when a second person has to, and who decides while you’re away.')}</p>
        <p>
          <a href="#/approvals">{t('Approval rules and absence')}</a>
        </p>
      </section>
      {isAdmin.value && (
        <section class="card" aria-labelledby="bans">
          <h2 id="bans">{t('Workspace restrictions')}</h2>
          <Bans tools={bans.denied_tools} scopes={bans.denied_scopes} />
        </section>
      )}
      <section class="card" aria-labelledby="leave">
        <h2 id="leave">{t('Leave or delete')}</h2>
        <p>
          {rich('To leave just this workspace, go to <link>Members</link>.', {
            link: (text) => <a href="#/members">{text}</a>,
          })}
        </p>
        <div class="actions">
          <Deletion name={workspace.name} deletesAt={workspace.deletes_at} />
          <Confirm
            label={t('Delete my account')}
            title={t('Delete your account?')}
            verb={t('Delete my account')}
            act={async () => {
              await unwrap(api.DELETE('/console/me'))
              await signOut()
            }}
          >
            <p>
              {t(
                'You’ll be signed out everywhere, and your conversations, votes and notifications will be deleted. Anything else you wrote stays, under the name “Deleted user”. You can’t undo this.',
              )}
            </p>
          </Confirm>
        </div>
      </section>
    </Screen>
  )
}
