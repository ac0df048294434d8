import { useState } from 'preact/hooks'
import { refresh } from '../../../ui/data.ts'
import { Choice, Filters, filter, filters, Search } from '../../../ui/filters.tsx'
import { TextField } from '../../../ui/form.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { isSuperadmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Listing } from '../ui/listing.tsx'
import { ForSuperadmins } from '../ui/superadmins.tsx'

type Workspace = Schemas['ModeratedWorkspace']

const REASON = { label: 'Reason', hint: 'Kept in the audit log.' }

const SetStatus = ({ workspace: { id, name, status, status_before } }: { workspace: Workspace }) => {
  const to = (status === 'deleting' ? status_before : status) === 'suspended' ? 'active' : 'suspended'
  return (
    <Decide
      label={to === 'suspended' ? 'Suspend' : 'Lift suspension'}
      about={name}
      title={to === 'suspended' ? `Suspend ${name}?` : `Lift the suspension of ${name}?`}
      {...(to === 'suspended' && { tone: 'danger' as const, typed: name.trim() })}
      reason={REASON}
      done={to === 'suspended' ? 'Workspace suspended.' : 'Suspension lifted.'}
      act={async (reason) => {
        await unwrap(
          api.POST('/admin/workspaces/{id}/status', { params: { path: { id } }, body: { status: to, reason } }),
        )
        await refresh('workspaces')
      }}
    >
      <p>
        {to === 'suspended'
          ? 'Its integrations stop working right away, active runs are cancelled, and its members can view but not change anything.'
          : 'Its integrations will work again. Cancelled runs stay cancelled.'}
      </p>
    </Decide>
  )
}

/** Acts on an installation by ID. Admins can't list installations, but runs, the audit log and exports show the IDs. */
const Installation = () => {
  const [id, setId] = useState(filter('installation'))
  const [done, setDone] = useState<Schemas['ModeratedInstallation']>()
  const known = /^ins_[0-9a-z]{26}$/.test(id.trim())
  const set = (status: 'active' | 'suspended') => async (reason: string) =>
    setDone(
      await unwrap(
        api.POST('/admin/installations/{id}/status', { params: { path: { id: id.trim() } }, body: { status, reason } }),
      ),
    )
  return (
    <section class="section card">
      <h2>Suspend an installation</h2>
      <ForSuperadmins what="suspend an installation">
        <TextField
          label="Installation ID"
          hint="You can find it in runs, the audit log and exports."
          value={id}
          placeholder="ins_…"
          autocomplete="off"
          spellcheck={false}
          onText={setId}
        />
        {known && (
          <div class="actions">
            <Decide
              label="Suspend"
              title="Suspend this installation?"
              tone="danger"
              reason={REASON}
              done="Installation suspended."
              act={set('suspended')}
            >
              <p>Its tokens stop working right away, and its runs are cancelled.</p>
            </Decide>
            <Decide
              label="Lift suspension"
              title="Lift the suspension of this installation?"
              reason={REASON}
              done="Suspension lifted."
              act={set('active')}
            />
          </div>
        )}
        {done && (
          <p role="status">
            <Name>{done.app_name}</Name> {done.version} <State name={done.status} />
          </p>
        )}
      </ForSuperadmins>
    </section>
  )
}

export default function Workspaces() {
  const query = filters('status', 'sandbox', 'q') as {
    status?: Workspace['status']
    sandbox?: 'true' | 'false'
    q?: string
  }
  return (
    <Screen title="Workspaces">
      <Filters>
        <Search name="q" label="Name" hint="Starts with…" />
        <Choice name="status" label="Status" options={['active', 'suspended', 'deleting']} />
        <Choice name="sandbox" label="Type" options={{ false: 'Customer workspaces', true: 'Sandboxes' }} />
      </Filters>
      <ForSuperadmins what="suspend workspaces" />
      <Listing
        name={`workspaces ${JSON.stringify(query)}`}
        none="No matching workspaces"
        read={(at) => unwrap(api.GET('/admin/workspaces', { params: { query: { ...query, ...at } as never } }))}
      >
        {(workspace) => (
          <article class="entry-body">
            <p>
              <strong>
                <Name>{workspace.name}</Name>
              </strong>{' '}
              <State name={workspace.status} /> {workspace.is_sandbox && <span class="state">Sandbox</span>}
            </p>
            <p class="soft">
              <code>{workspace.id}</code> · created <When at={workspace.created_at} /> ·{' '}
              <a href={`#/runs?workspace=${workspace.id}`}>Runs</a> ·{' '}
              <a href={`#/audit?workspace=${workspace.id}`}>Audit log</a>
              {workspace.deletes_at && (
                <>
                  {' '}
                  · will be deleted <When at={workspace.deletes_at} />
                </>
              )}
            </p>
            {workspace.status_reason && (
              <div class="note warn">
                <Prose text={workspace.status_reason} />
              </div>
            )}
            {isSuperadmin.value && (
              <div class="actions">
                <SetStatus workspace={workspace} />
              </div>
            )}
          </article>
        )}
      </Listing>
      <Installation />
    </Screen>
  )
}
