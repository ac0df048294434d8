import { useState } from 'preact/hooks'
import { useAct } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Form } from '../../../ui/form.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { go } from '../../../ui/router.ts'
import { Screen, Shown } from '../../../ui/screen.tsx'
import { Logo, Name, When } from '../../../ui/text.tsx'
import { type ToolName, ToolTicks } from '../../../ui/tools.tsx'
import { isAdmin, isOwner } from '../account.ts'
import { api, type Schemas, take } from '../api.ts'
import { GrantCard } from '../ui/grants.tsx'
import { Reviews } from '../ui/reviews.tsx'
import { ScopeList } from '../ui/scopes.tsx'
import { SettingsForm } from '../ui/settings-form.tsx'
import { type Installation, InstallationState } from './agents.tsx'

const Upgrade = ({ one }: { one: Installation }) => {
  const { busy, failure, act } = useAct()
  const upgrade = () =>
    act(async () => {
      const path = { id: one.id }
      const now = await take(api.POST('/console/installations/{id}/upgrade', { params: { path } }))
      announce(`Now at version ${now.agent.version}.`)
      if (now.missing_scopes.length > 0) announce('The new version asks for more than was granted: look at its page.')
      await refresh('installations')
    })
  return (
    <div class="card urgent">
      <p>
        Version <strong>{one.latest_version}</strong> is there; this workspace has {one.agent.version}. Runs that have
        begun go on as they are.
      </p>
      {failure && <Problem failure={failure} />}
      {isAdmin.value ? (
        <button type="button" class="primary" aria-busy={busy} onClick={upgrade}>
          Update to {one.latest_version}
        </button>
      ) : (
        <p class="hint">An admin of the workspace can update it.</p>
      )}
    </div>
  )
}

const Policy = ({ one }: { one: Installation }) => {
  const [callers, setCallers] = useState<'all' | 'none' | 'some'>(
    one.allowed_callers === null ? 'all' : one.allowed_callers.length === 0 ? 'none' : 'some',
  )
  const [names, setNames] = useState((one.allowed_callers ?? []).join('\n'))
  const [denied, setDenied] = useState<readonly string[]>(one.denied_tools)
  const send = async (): Promise<void> => {
    const list = names.split(/[\s,]+/).filter(Boolean)
    const allowed_callers = callers === 'all' ? null : callers === 'none' ? [] : list
    const body = { allowed_callers, denied_tools: denied as ToolName[] }
    await take(api.PUT('/console/installations/{id}/policy', { params: { path: { id: one.id } }, body }))
    announce('Rules saved. They hold from the next call on.')
    await refresh('installations')
  }
  return (
    <Form verb="Save rules" send={send}>
      <fieldset>
        <legend>Other agents that may call it</legend>
        {(
          [
            ['all', 'All agents of the workspace'],
            ['some', 'Only these'],
            ['none', 'None'],
          ] as const
        ).map(([value, label]) => (
          <label class="tick" key={value}>
            <input type="radio" name="callers" checked={callers === value} onChange={() => setCallers(value)} />
            <span>{label}</span>
          </label>
        ))}
        {callers === 'some' && (
          <>
            <label class="unseen" for="callers">
              Names of agents, one a line
            </label>
            <textarea
              id="callers"
              rows={3}
              placeholder="stock-helper"
              value={names}
              onInput={(event) => setNames(event.currentTarget.value)}
            />
          </>
        )}
      </fieldset>
      <ToolTicks legend="Platform tools that it may not use" chosen={denied} onChange={setDenied} />
    </Form>
  )
}

const Settings = ({ one }: { one: Installation }) => {
  const settings = useData(`installations settings ${one.id} ${one.agent.version}`, () =>
    take(api.GET('/console/installations/{id}/settings', { params: { path: { id: one.id } } })),
  )
  return (
    <Shown known={settings} rows={2}>
      {(data) => (
        <>
          {!data.settings_complete && (
            <p class="note warn">
              <strong>Settings are missing.</strong> The agent may not work without them.
            </p>
          )}
          {!isAdmin.value && <p class="hint">Admins of the workspace can change them.</p>}
          <SettingsForm id={one.id} schema={data.schema as never} values={data.values} readOnly={!isAdmin.value} />
        </>
      )}
    </Shown>
  )
}

const Grants = ({ id }: { id: string }) => {
  const grants = useData('installations grants of', () =>
    take(api.GET('/console/grants', { params: { query: { limit: 100 } } })),
  )
  const own = grants.data?.items.filter(({ installation_id }) => installation_id === id) ?? []
  if (own.length === 0) return null
  return (
    <section class="section" aria-labelledby="grants">
      <h2 id="grants">Access from outside</h2>
      {own.map((grant) => (
        <GrantCard key={grant.id} grant={grant} />
      ))}
    </section>
  )
}

const Chat = ({ id }: { id: string }) => {
  const { busy, failure, act } = useAct()
  return (
    <>
      {failure && <Problem failure={failure} />}
      <button
        type="button"
        class="primary"
        aria-busy={busy}
        onClick={() =>
          act(async () => {
            const body: Schemas['OpenChat'] = { installation_id: id }
            const chat = await take(api.POST('/console/conversations', { body }))
            go(`/chat/${chat.id}`)
          })
        }
      >
        Chat with it
      </button>
    </>
  )
}

export default function AgentScreen({ id }: { id: string }) {
  const agent = useData<Installation>(`installations one ${id}`, () =>
    take(api.GET('/console/installations/{id}', { params: { path: { id } } })),
  )
  return (
    <Screen title={agent.data?.app.name ?? 'Agent'} back={{ to: '/agents', label: 'Agents' }}>
      <Shown known={agent} rows={4}>
        {(one) => {
          const gone = one.status === 'revoked'
          return (
            <>
              <div class="row plain">
                <Logo name={one.app.name} url={one.app.logo_url} />
                <span class="grow">
                  <span>
                    <Name>{one.agent.id}</Name> · {one.agent.version}
                  </span>
                  <span class="soft">
                    Installed by <Name>{one.owner.name}</Name> <When at={one.created_at} />
                  </span>
                </span>
                <InstallationState one={one} />
              </div>
              {!gone && (
                <div class="actions">
                  {one.status === 'active' && <Chat id={id} />}
                  {one.app.status === 'approved' && (
                    <a class="button" href={`#/marketplace/${one.app.slug}`}>
                      Its page in the marketplace
                    </a>
                  )}
                </div>
              )}
              {one.upgrade_available && !gone && (
                <div class="section">
                  <Upgrade one={one} />
                </div>
              )}
              <section class="section" aria-labelledby="rights">
                <h2 id="rights">It may</h2>
                <ScopeList scopes={one.scopes} />
              </section>
              {!gone && (
                <section class="section card" aria-labelledby="settings">
                  <h2 id="settings">Settings</h2>
                  <Settings one={one} />
                </section>
              )}
              {!gone && (
                <section class="section card" aria-labelledby="rules">
                  <h2 id="rules">Rules</h2>
                  {isOwner.value ? (
                    <Policy key={one.updated_at} one={one} />
                  ) : (
                    <p class="soft">Owners of the workspace decide who may call it, and what it may not use.</p>
                  )}
                </section>
              )}
              <Grants id={id} />
              <Reviews appId={one.app.id} mayWrite={!gone} />
              {!gone && isAdmin.value && (
                <section class="section card" aria-labelledby="uninstall">
                  <h2 id="uninstall">Uninstall</h2>
                  <p>Its runs stop, its access ends and its settings are erased. What it did stays readable.</p>
                  <Confirm
                    label={`Uninstall ${one.app.name}`}
                    title={`Uninstall ${one.app.name}?`}
                    verb="Uninstall"
                    act={async () => {
                      await take(api.DELETE('/console/installations/{id}', { params: { path: { id } } }))
                      announce(`${one.app.name} is uninstalled.`)
                      go('/agents')
                      await refresh('installations')
                    }}
                  >
                    <p>
                      At once: its runs are cancelled, what waits for approval is dropped, and its settings are erased.
                      It cannot be taken back; installing again begins anew.
                    </p>
                  </Confirm>
                </section>
              )}
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
