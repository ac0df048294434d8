import { useState } from 'preact/hooks'
import { resolveUrl } from '../../../session/config.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData, usePages } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { Field, Form } from '../../../ui/form.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { identity, isAdmin, isOwner } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { ScopeList } from '../ui/scopes.tsx'

const mcpUrl = resolveUrl('mcp')

export default function Assistants() {
  const [all, setAll] = useState(false)
  const grants = usePages(`hosts grants ${all}`, async (cursor) => {
    const query = {
      kind: 'host' as const,
      all: all ? ('true' as const) : ('false' as const),
      ...(cursor && { cursor }),
    }
    const page = await unwrap(api.GET('/console/grants', { params: { query } }))
    return { ...page, items: page.items.flatMap((grant) => (grant.kind === 'host' ? [grant] : [])) }
  })
  return (
    <Screen title={t('Connected assistants')}>
      <p class="soft">
        {t(
          'Assistants such as Claude, ChatGPT, Cursor or VS Code that can act in this workspace in your name. To connect one, add this address there as an MCP server:',
        )}
      </p>
      <p>
        <code>{mcpUrl}</code> · <a href={resolveUrl('docs/guides/assistants')}>{t('How to')}</a>
      </p>
      {isAdmin.value && (
        <label class="tick">
          <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
          <span>{t('Show everybody’s')}</span>
        </label>
      )}
      <Shown known={grants} rows={2} tall>
        {({ items }) =>
          items.length === 0 && !grants.more ? (
            <Empty icon="plug" title={t('No assistant is connected.')} />
          ) : (
            items.map((grant) => <AssistantCard key={grant.id} grant={grant} />)
          )
        }
      </Shown>
      <More more={grants.more} />
      <Allowed />
    </Screen>
  )
}

const AssistantCard = ({ grant }: { grant: Schemas['HostGrant'] }) => {
  const { client, person, resource } = grant
  const isMine = person.id === identity.value?.user.id
  return (
    <article class="card" aria-label={client.name}>
      <div class="row plain">
        <span class="grow">
          <strong>
            “<Name>{client.name}</Name>”
          </strong>
          <span class="soft">
            <Name>{client.host}</Name> · {reachOf(resource)} ·{' '}
            {isMine ? t('connected by you') : <Name>{person.name}</Name>} <When at={grant.created_at} /> ·{' '}
            {grant.last_used_at
              ? rich('last renewed {time}', { time: <When at={grant.last_used_at} /> })
              : t('never used')}
          </span>
        </span>
      </div>
      <ScopeList scopes={grant.scopes} />
      <Confirm
        label={t('Disconnect')}
        title={t('Disconnect “{name}”?', { name: client.name })}
        verb={t('Disconnect')}
        act={async () => {
          await unwrap(api.DELETE('/console/grants/{id}', { params: { path: { id: grant.id } } }))
          announce(t('Disconnected.'))
          await refresh('hosts')
        }}
      >
        <p>
          {t(
            'Its requests are rejected from now on. Runs that it started continue, and you can stop them under Runs. To use it again, connect it again.',
          )}
        </p>
      </Confirm>
    </article>
  )
}

const AGENT = '/mcp/agents/'

/** Describes what a connection reaches. */
const reachOf = (resource: string): string => {
  if (resource.startsWith(AGENT)) return t('only the agent {agent}', { agent: resource.slice(AGENT.length) })
  return resource === '/a2a' ? t('all agents, over A2A') : t('all agents')
}

/** The owner's switch and list. Others see what applies to them. */
const Allowed = () => {
  const known = useData('hosts settings', () => unwrap(api.GET('/console/settings/hosts')))
  return (
    <section class="card" aria-labelledby="allowed">
      <h2 id="allowed">{t('Which assistants are allowed')}</h2>
      {!isOwner.value && <p class="hint">{t('Only owners can change this.')}</p>}
      <Shown known={known} rows={1}>
        {(now) => <AllowedForm key={JSON.stringify(now)} now={now} />}
      </Shown>
    </section>
  )
}

const AllowedForm = ({ now }: { now: Schemas['HostSettings'] }) => {
  const [enabled, setEnabled] = useState(now.enabled)
  const [listed, setListed] = useState(now.allowed_hosts !== null)
  const [hosts, setHosts] = useState((now.allowed_hosts ?? []).join('\n'))
  const readOnly = !isOwner.value
  const send = async (): Promise<void> => {
    const named = hosts
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean)
    await unwrap(api.PUT('/console/settings/hosts', { body: { enabled, allowed_hosts: listed ? named : null } }))
    announce(t('Saved. Changes apply to the next request.'))
    await refresh('hosts')
  }
  const fields = (
    <>
      <label class="tick">
        <input
          type="checkbox"
          checked={enabled}
          disabled={readOnly}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        <span>{t('Members may use assistants in this workspace')}</span>
      </label>
      <label class="tick">
        <input
          type="checkbox"
          checked={listed}
          disabled={readOnly || !enabled}
          onChange={(event) => setListed(event.currentTarget.checked)}
        />
        <span>{t('Only those on this list')}</span>
      </label>
      {listed && enabled && (
        <Field
          label={t('Hosts')}
          hint={t(
            'One a line, such as claude.ai or chatgpt.com. A program on a person’s own machine is localhost or 127.0.0.1.',
          )}
        >
          {(field) => (
            <textarea
              {...field}
              rows={4}
              value={hosts}
              readOnly={readOnly}
              onInput={(event) => setHosts(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </>
  )
  return readOnly ? (
    fields
  ) : (
    <Form verb={t('Save')} send={send}>
      {fields}
    </Form>
  )
}
