import { useState } from 'preact/hooks'
import { clean } from '../../../session/text.ts'
import { enter, identity, isAdmin, isOwner, signOut } from '../account.ts'
import { api, take } from '../api.ts'
import { refresh, useData } from '../data.ts'
import { fullTime } from '../format.ts'
import { useAct } from '../ui/act.ts'
import { announce } from '../ui/announce.tsx'
import { Confirm, Field, Form, Screen, Shown } from '../ui/kit.tsx'
import { fieldProblems, Problem } from '../ui/problem.tsx'
import type { ScopeName } from '../ui/scopes.tsx'
import { type ToolName, ToolTicks } from '../ui/tools.tsx'

const zones = (): string[] =>
  (Intl as unknown as { supportedValuesOf?: (key: string) => string[] }).supportedValuesOf?.('timeZone') ?? []

interface Named {
  name: string
  locale: string
  time_zone: string
}

/** Name, language and time zone, of a person or of a workspace. */
const NamedForm = ({
  now,
  save,
  readOnly,
}: {
  now: Named
  save: (changes: Named) => Promise<unknown>
  readOnly?: boolean
}) => {
  const [name, setName] = useState(now.name)
  const [locale, setLocale] = useState(now.locale)
  const [zone, setZone] = useState(now.time_zone)
  const send = async (): Promise<void> => {
    await save({ name: name.trim(), locale: locale.trim(), time_zone: zone })
    announce('Saved.')
    await enter()
  }
  const all = zones()
  return (
    <Form verb="Save" send={send} disabled={readOnly ?? false}>
      {(failure) => {
        const problems = fieldProblems(failure)
        return (
          <>
            <Field label="Name" problem={problems.name}>
              {(field) => (
                <input
                  {...field}
                  required
                  maxLength={100}
                  value={name}
                  readOnly={readOnly}
                  onInput={(event) => setName(event.currentTarget.value)}
                />
              )}
            </Field>
            <Field label="Language and region" hint="For dates and numbers: en, de-AT, ru, …" problem={problems.locale}>
              {(field) => (
                <input
                  {...field}
                  required
                  maxLength={35}
                  value={locale}
                  readOnly={readOnly}
                  onInput={(event) => setLocale(event.currentTarget.value)}
                />
              )}
            </Field>
            <Field label="Time zone" problem={problems.time_zone}>
              {(field) => (
                <select
                  {...field}
                  value={zone}
                  disabled={readOnly}
                  onChange={(event) => setZone(event.currentTarget.value)}
                >
                  {(all.includes(zone) ? all : [zone, ...all]).map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </select>
              )}
            </Field>
          </>
        )
      }}
    </Form>
  )
}

const PrimaryAgent = () => {
  const main = useData('messages main', () =>
    take(api.GET('/console/conversations', { params: { query: { kind: 'main' } } })),
  )
  const agents = useData('installations assignable all', () =>
    take(api.GET('/console/agents', { params: { query: { all: 'true', limit: 100 } } })),
  )
  const { busy, failure, act } = useAct()
  const now = main.data?.items[0]?.answered_by?.installation_id ?? ''
  const choose = (installation_id: string | null) =>
    act(async () => {
      await take(api.PUT('/console/settings/primary-agent', { body: { installation_id } }))
      announce('Saved. It answers from the next message on.')
      await refresh('messages')
    })
  return (
    <Shown known={main} rows={1}>
      {() => (
        <>
          <Field label="Who answers the main chat" hint="For everybody in the workspace, from the next message on.">
            {(field) => (
              <select
                {...field}
                value={now}
                aria-busy={busy}
                disabled={!isAdmin.value}
                onChange={(event) => choose(event.currentTarget.value || null)}
              >
                <option value="">The platform’s assistant</option>
                {agents.data?.items.map((one) => (
                  <option key={one.installation_id} value={one.installation_id}>
                    {clean(one.name)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {failure && <Problem failure={failure} />}
        </>
      )}
    </Shown>
  )
}

const CrossAgent = ({ enabled }: { enabled: boolean }) => {
  const { busy, failure, act } = useAct()
  const set = (on: boolean) =>
    act(async () => {
      await take(api.PUT('/console/settings/cross-agent', { body: { enabled: on } }))
      announce(on ? 'Agents may call each other.' : 'Agents may not call each other any more.')
      await enter()
    })
  return (
    <>
      <label class="tick">
        <input
          type="checkbox"
          checked={enabled}
          disabled={!isOwner.value}
          aria-busy={busy}
          onChange={(event) => set(event.currentTarget.checked)}
        />
        <span>
          Agents may call each other
          {!isOwner.value && <span class="hint"> Owners decide this.</span>}
        </span>
      </label>
      {failure && <Problem failure={failure} />}
    </>
  )
}

const Bans = ({ tools, scopes }: { tools: readonly string[]; scopes: readonly string[] }) => {
  const [deniedTools, setTools] = useState(tools)
  const [deniedScopes, setScopes] = useState(scopes)
  const known = useData('scopes', () => take(api.GET('/oauth/scopes')))
  const send = async (): Promise<void> => {
    const body = { denied_tools: deniedTools as ToolName[], denied_scopes: deniedScopes as ScopeName[] }
    await take(api.PUT('/console/settings/bans', { body }))
    announce('Saved. It holds from the next request on.')
    await enter()
  }
  return (
    <Form verb="Save what is forbidden" send={send}>
      <ToolTicks legend="No agent here may use" chosen={deniedTools} onChange={setTools} />
      <fieldset>
        <legend>No agent here may</legend>
        <div class="ticks">
          {known.data?.items.map(({ scope, description }) => (
            <label class="tick" key={scope}>
              <input
                type="checkbox"
                checked={deniedScopes.includes(scope)}
                onChange={({ currentTarget: { checked } }) =>
                  setScopes(checked ? [...deniedScopes, scope] : deniedScopes.filter((one) => one !== scope))
                }
              />
              <span>
                {description} <code class="soft">{scope}</code>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </Form>
  )
}

const Deletion = ({ deletesAt }: { deletesAt: string | null }) => {
  const { busy, failure, act } = useAct()
  if (deletesAt) {
    return (
      <>
        <p class="note warn">
          <strong>This workspace is being deleted.</strong> Everything in it is removed on {fullTime(deletesAt)}.
        </p>
        {failure && <Problem failure={failure} />}
        {isOwner.value && (
          <button
            type="button"
            class="primary"
            aria-busy={busy}
            onClick={() =>
              act(async () => {
                await take(api.POST('/console/workspace/restore'))
                announce('The workspace stays.')
                await enter()
              })
            }
          >
            Keep the workspace
          </button>
        )}
      </>
    )
  }
  return isOwner.value ? (
    <Confirm
      label="Delete the workspace"
      title="Delete this workspace?"
      verb="Delete it in 14 days"
      act={async () => {
        await take(api.DELETE('/console/workspace'))
        await enter()
      }}
    >
      <p>
        Its agents stop at once. After 14 days everything in it is removed: tasks, chats, files, runs. Until then an
        owner can take it back here.
      </p>
    </Confirm>
  ) : null
}

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
