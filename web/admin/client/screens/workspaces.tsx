import { useState } from 'preact/hooks'
import { refresh } from '../../../ui/data.ts'
import { TextField } from '../../../ui/form.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { isSuperadmin } from '../account.ts'
import { api, type Schemas, take } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Choice, Filters, filter, filters, Search } from '../ui/filters.tsx'
import { Listing } from '../ui/listing.tsx'
import { ForSuperadmins } from '../ui/superadmins.tsx'

type Workspace = Schemas['ModeratedWorkspace']

const REASON = { label: 'Reason', hint: 'For the audit.' }

const SetStatus = ({ workspace: { id, name, status, status_before } }: { workspace: Workspace }) => {
  const to = (status === 'deleting' ? status_before : status) === 'suspended' ? 'active' : 'suspended'
  return (
    <Decide
      label={to === 'suspended' ? 'Suspend' : 'End the suspension'}
      about={name}
      title={to === 'suspended' ? `Suspend ${name}?` : `End the suspension of ${name}?`}
      {...(to === 'suspended' && { tone: 'danger' as const, typed: name.trim() })}
      reason={REASON}
      done={to === 'suspended' ? 'The workspace is suspended.' : 'The suspension is over.'}
      act={async (reason) => {
        await take(
          api.POST('/admin/workspaces/{id}/status', { params: { path: { id } }, body: { status: to, reason } }),
        )
        await refresh('workspaces')
      }}
    >
      <p>
        {to === 'suspended'
          ? 'Its integrations are refused from the next request on, runs under way are cancelled, and people may read but change nothing.'
          : 'Its integrations work again. Runs that were cancelled stay cancelled.'}
      </p>
    </Decide>
  )
}

/** Installations are not listed for staff: their ids stand at runs, in the audit and in the export. */
const Installation = () => {
  const [id, setId] = useState(filter('installation'))
  const [done, setDone] = useState<Schemas['ModeratedInstallation']>()
  const known = /^ins_[0-9a-z]{26}$/.test(id.trim())
  const set = (status: 'active' | 'suspended') => async (reason: string) =>
    setDone(
      await take(
        api.POST('/admin/installations/{id}/status', { params: { path: { id: id.trim() } }, body: { status, reason } }),
      ),
    )
  return (
    <section class="section card">
      <h2>One installation</h2>
      <ForSuperadmins what="suspend an installation">
        <TextField
          label="Its id"
          hint="As runs, the audit and the export show it."
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
              done="The installation is suspended."
              act={set('suspended')}
            >
              <p>Its tokens are refused from the next request on, and its runs are cancelled.</p>
            </Decide>
            <Decide
              label="End its suspension"
              title="End the suspension of this installation?"
              reason={REASON}
              done="The suspension is over."
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
        <Search name="q" label="Name" hint="How it begins" />
        <Choice name="status" label="Status" options={['active', 'suspended', 'deleting']} />
        <Choice name="sandbox" label="Whose" options={{ false: 'Customers’', true: 'Sandboxes' }} />
      </Filters>
      <ForSuperadmins what="suspend workspaces" />
      <Listing
        name={`workspaces ${JSON.stringify(query)}`}
        none="There is no such workspace."
        read={(at) => take(api.GET('/admin/workspaces', { params: { query: { ...query, ...at } as never } }))}
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
              <code>{workspace.id}</code> · made <When at={workspace.created_at} /> ·{' '}
              <a href={`#/runs?workspace=${workspace.id}`}>Runs</a> ·{' '}
              <a href={`#/audit?workspace=${workspace.id}`}>Audit</a>
              {workspace.deletes_at && (
                <>
                  {' '}
                  · goes <When at={workspace.deletes_at} />
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
