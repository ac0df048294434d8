import { useState } from 'preact/hooks'
import { clean } from '../../../../session/text.ts'
import { useAct } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh, useData } from '../../../../ui/data.ts'
import { Field, Form } from '../../../../ui/form.tsx'
import { Problem } from '../../../../ui/problem.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { type ToolName, ToolTicks } from '../../../../ui/tools.tsx'
import { enter, isAdmin, isOwner } from '../../account.ts'
import { api, take } from '../../api.ts'
import type { ScopeName } from '../../ui/scopes.tsx'

export const PrimaryAgent = () => {
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

export const CrossAgent = ({ enabled }: { enabled: boolean }) => {
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

export const Bans = ({ tools, scopes }: { tools: readonly string[]; scopes: readonly string[] }) => {
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
