import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Choice, Filters, filters, Search } from '../../../ui/filters.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { isSuperadmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { Decide } from '../ui/decide.tsx'
import { Listing } from '../ui/listing.tsx'
import { ForSuperadmins } from '../ui/superadmins.tsx'

type Developer = Schemas['ModeratedDeveloper']

export const Verify = ({ developer: { id, name } }: { developer: Developer }) => {
  const { busy, failure, act } = useAction()
  return (
    <>
      <button
        type="button"
        aria-busy={busy}
        onClick={() =>
          act(async () => {
            await unwrap(api.POST('/admin/developers/{id}/verify', { params: { path: { id } } }))
            announce('Developer verified.')
            await refresh('developers')
          })
        }
      >
        Verify<span class="unseen"> {sanitize(name)}</span>
      </button>
      {failure && <Problem failure={failure} />}
    </>
  )
}

export const Block = ({ developer: { id, name, email, status } }: { developer: Developer }) => {
  const [suspends, setSuspends] = useState(false)
  return status === 'blocked' ? (
    <Decide
      label="Unblock"
      about={name}
      title={`Unblock ${name}?`}
      done="Developer unblocked."
      act={async () => {
        await unwrap(api.POST('/admin/developers/{id}/unblock', { params: { path: { id } } }))
        await refresh('developers')
      }}
    >
      <p>Their key will work again, and their apps can be installed. Apps that were suspended stay suspended.</p>
    </Decide>
  ) : (
    <Decide
      label="Block"
      about={name}
      title={`Block ${name}?`}
      tone="danger"
      typed={email}
      reason={{ label: 'Reason', hint: 'Shown to the developer.' }}
      done="Developer blocked."
      act={async (reason) => {
        const installations = suspends ? 'suspend' : 'keep'
        await unwrap(
          api.POST('/admin/developers/{id}/block', { params: { path: { id } }, body: { reason, installations } }),
        )
        await refresh('developers')
      }}
    >
      <p>
        Their key stops working right away, and nobody can install their apps or consent to them. Existing installations
        keep working, unless you suspend the apps as well.
      </p>
      <label class="tick">
        <input type="checkbox" checked={suspends} onChange={(event) => setSuspends(event.currentTarget.checked)} />
        <span>
          Also suspend <strong>all of their apps</strong> for every customer
        </span>
      </label>
    </Decide>
  )
}

export default function Developers() {
  const query = filters('status', 'verified', 'q') as {
    status?: Developer['status']
    verified?: 'true' | 'false'
    q?: string
  }
  return (
    <Screen title="Developers">
      <Filters>
        <Search name="q" label="Name, company or email" hint="Starts with…" />
        <Choice name="status" label="Status" options={['active', 'blocked']} />
        <Choice name="verified" label="Badge" options={{ true: 'Verified', false: 'Unverified' }} />
      </Filters>
      <ForSuperadmins what="verify, block and unblock developers" />
      <Listing
        name={`developers ${JSON.stringify(query)}`}
        none="No matching developers"
        read={(at) => unwrap(api.GET('/admin/developers', { params: { query: { ...query, ...at } as never } }))}
      >
        {(developer) => (
          <article class="entry-body">
            <p>
              <a href={`#/developers/${developer.id}`}>
                <strong>
                  <Name>{developer.company ?? developer.name}</Name>
                </strong>
              </a>{' '}
              <State
                name={developer.status === 'blocked' ? 'suspended' : 'active'}
                label={developer.status === 'blocked' ? 'Blocked' : 'Active'}
              />{' '}
              {developer.verified && <span class="state good">✓ Verified</span>}
            </p>
            <p class="soft">
              {developer.company && (
                <>
                  <Name>{developer.name}</Name> ·{' '}
                </>
              )}
              <Name>{developer.email}</Name> · registered <When at={developer.created_at} /> ·{' '}
              <a href={`#/apps?developer=${developer.id}`}>Apps</a>
            </p>
            {developer.status_reason && (
              <div class="note warn">
                <Prose text={developer.status_reason} />
              </div>
            )}
            {isSuperadmin.value && (
              <div class="actions">
                {!developer.verified && <Verify developer={developer} />}
                <Block developer={developer} />
              </div>
            )}
          </article>
        )}
      </Listing>
    </Screen>
  )
}
