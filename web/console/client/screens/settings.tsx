import { Confirm } from '../../../ui/dialog.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { identity, isAdmin, signOut } from '../account.ts'
import { api, take } from '../api.ts'
import { Bans, CrossAgent, PrimaryAgent } from './settings/agents.tsx'
import { Deletion } from './settings/deletion.tsx'
import { NamedForm } from './settings/named-form.tsx'

export default function Settings() {
  const who = identity.value
  if (!who) return null
  const { user, workspace, bans } = who
  return (
    <Screen title="Settings">
      <section class="card" aria-labelledby="you">
        <h2 id="you">You</h2>
        <NamedForm now={user} save={(body) => take(api.PATCH('/console/me', { body }))} />
      </section>
      <section class="card" aria-labelledby="workspace">
        <h2 id="workspace">Workspace</h2>
        {!isAdmin.value && <p class="hint">Admins of the workspace can change this.</p>}
        <NamedForm
          key={workspace.id}
          now={workspace}
          readOnly={!isAdmin.value}
          save={(body) => take(api.PATCH('/console/workspace', { body }))}
        />
      </section>
      <section class="card" aria-labelledby="agents">
        <h2 id="agents">Agents</h2>
        <PrimaryAgent />
        <CrossAgent enabled={who.cross_agent_enabled} />
      </section>
      {isAdmin.value && (
        <section class="card" aria-labelledby="bans">
          <h2 id="bans">Forbidden for every agent</h2>
          <Bans tools={bans.denied_tools} scopes={bans.denied_scopes} />
        </section>
      )}
      <section class="card" aria-labelledby="leave">
        <h2 id="leave">Leave</h2>
        <p>
          To leave this workspace only, go to <a href="#/members">Members</a>.
        </p>
        <div class="actions">
          <Deletion deletesAt={workspace.deletes_at} />
          <Confirm
            label="Delete my account"
            title="Delete your account?"
            verb="Delete my account"
            act={async () => {
              await take(api.DELETE('/console/me'))
              await signOut()
            }}
          >
            <p>
              At once and for good: you are signed out everywhere, and your chats, votes and notifications are removed.
              What you wrote elsewhere stays as “Deleted user”.
            </p>
          </Confirm>
        </div>
      </section>
    </Screen>
  )
}
