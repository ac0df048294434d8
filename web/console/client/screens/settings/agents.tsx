import { useState } from 'preact/hooks'
import { sanitize } from '../../../../session/text.ts'
import { useAction } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh, useData } from '../../../../ui/data.ts'
import { Field, Form } from '../../../../ui/form.tsx'
import { t } from '../../../../ui/messages.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { scopeText } from '../../../../ui/scope-text.ts'
import { Shown } from '../../../../ui/screen.tsx'
import { type ToolName, ToolTicks } from '../../../../ui/tools.tsx'
import { isAdmin, isOwner, openConsole } from '../../account.ts'
import { api, unwrap } from '../../api.ts'
import type { ScopeName } from '../../ui/scopes.tsx'

export const PrimaryAgent = () => {
  const main = useData('messages main', () =>
    unwrap(api.GET('/console/conversations', { params: { query: { kind: 'main' } } })),
  )
  const agents = useData('installations assignable all', () =>
    unwrap(api.GET('/console/agents', { params: { query: { all: 'true', limit: 100 } } })),
  )
  const { busy, failure, act } = useAction()
  const now = main.data?.items[0]?.answered_by?.installation_id ?? ''
  const choose = (installation_id: string | null) =>
    act(async () => {
      await unwrap(api.PUT('/console/settings/primary-agent', { body: { installation_id } }))
      announce(t('Saved. The change applies to the next message.'))
      await refresh('messages')
    })
  return (
    <Shown known={main} rows={1}>
      {() => (
        <>
          <Field
            label={t('Agent for the main conversation')}
            hint={t('Applies to everyone in the workspace. Lists agents that may read and write messages.')}
          >
            {(field) => (
              <select
                {...field}
                value={now}
                aria-busy={busy}
                disabled={!isAdmin.value}
                onChange={(event) => choose(event.currentTarget.value || null)}
              >
                <option value="">{t('The platform’s assistant')}</option>
                {agents.data?.items
                  .filter(({ answers_chats, installation_id }) => answers_chats || installation_id === now)
                  .map((one) => (
                    <option key={one.installation_id} value={one.installation_id}>
                      {sanitize(one.name)}
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
  const { busy, failure, act } = useAction()
  const set = (on: boolean) =>
    act(async () => {
      await unwrap(api.PUT('/console/settings/cross-agent', { body: { enabled: on } }))
      announce(on ? t('Agents can now call each other.') : t('Agents can no longer call each other.'))
      await openConsole()
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
          {t('Agents can call each other')}
          {!isOwner.value && <span class="hint"> {t('Only owners can change this.')}</span>}
        </span>
      </label>
      {failure && <Problem failure={failure} />}
    </>
  )
}

export const Bans = ({ tools, scopes }: { tools: readonly string[]; scopes: readonly string[] }) => {
  const [deniedTools, setTools] = useState(tools)
  const [deniedScopes, setScopes] = useState(scopes)
  const known = useData('scopes', () => unwrap(api.GET('/oauth/scopes')))
  const send = async (): Promise<void> => {
    const body = { denied_tools: deniedTools as ToolName[], denied_scopes: deniedScopes as ScopeName[] }
    await unwrap(api.PUT('/console/settings/bans', { body }))
    announce(t('Saved. Changes apply to the next request.'))
    await openConsole()
  }
  return (
    <Form verb={t('Save restrictions')} send={send}>
      <ToolTicks legend={t('Tools blocked for all agents')} chosen={deniedTools} onChange={setTools} />
      <fieldset>
        <legend>{t('Permissions blocked for all agents')}</legend>
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
                {scopeText(scope, description)} <code class="soft">{scope}</code>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </Form>
  )
}
