import { Confirm } from '../../../ui/dialog.tsx'
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
    <Screen title="Settings">
      <section class="card" aria-labelledby="you">
        <h2 id="you">Your profile</h2>
        <NamedForm now={user} save={(body) => unwrap(api.PATCH('/console/me', { body }))} />
      </section>
      <section class="card" aria-labelledby="passkeys">
        <h2 id="passkeys">Passkeys</h2>
        <Passkeys />
      </section>
      <section class="card" aria-labelledby="sessions">
        <h2 id="sessions">Devices</h2>
        <Sessions />
      </section>
      <section class="card" aria-labelledby="workspace">
        <h2 id="workspace">Workspace</h2>
        {!isAdmin.value && <p class="hint">Workspace admins can change these settings.</p>}
        <NamedForm
          key={workspace.id}
          now={workspace}
          readOnly={!isAdmin.value}
          save={(body) => unwrap(api.PATCH('/console/workspace', { body }))}
        />
      </section>
      <section class="card" aria-labelledby="agents">
        <h2 id="agents">Agents</h2>
        <PrimaryAgent />
        <CrossAgent enabled={who.cross_agent_enabled} />
      </section>
      <section class="card" aria-labelledby="approvals">
        <h2 id="approvals">Approvals</h2>
        <p>Who may approve which calls, when a second person has to, and who decides while you’re away.</p>
        <p>
          <a href="#/approvals">Approval rules and absence</a>
        </p>
      </section>
      {isAdmin.value && (
        <section class="card" aria-labelledby="bans">
          <h2 id="bans">Workspace restrictions</h2>
          <Bans tools={bans.denied_tools} scopes={bans.denied_scopes} />
        </section>
      )}
      <section class="card" aria-labelledby="leave">
        <h2 id="leave">Leave or delete</h2>
        <p>
          To leave just this workspace, go to <a href="#/members">Members</a>.
        </p>
        <div class="actions">
          <Deletion name={workspace.name} deletesAt={workspace.deletes_at} />
          <Confirm
            label="Delete my account"
            title="Delete your account?"
            verb="Delete my account"
            act={async () => {
              await unwrap(api.DELETE('/console/me'))
              await signOut()
            }}
          >
            <p>
              You’ll be signed out everywhere, and your conversations, votes and notifications will be deleted. Anything
              else you wrote stays, under the name “Deleted user”. You can’t undo this.
            </p>
          </Confirm>
        </div>
      </section>
    </Screen>
  )
}
