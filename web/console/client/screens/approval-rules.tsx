import { useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { patch, useData } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { count } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { identity, isOwner } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { startOfDay } from '../ui/day.ts'

type Rules = Schemas['ApprovalRules']
type Rule = Rules['rules'][number]
type Named = Record<string, string>

const KEY = 'approval rules'
const ROLES: Named = { member: t('Any member'), admin: t('Admins and owners'), owner: t('Owners') }
const SECOND: Named = { never: t('Never'), always: t('Always'), at_least: t('From an amount') }

/** Replaces the rules, unless somebody changed them since they were read. */
const save = async (now: Rules, rules: Rule[], said: string): Promise<void> => {
  const saved = await unwrap(api.PUT('/console/settings/approvals', { body: { rules, revision: now.revision } }))
  patch<Rules>(KEY, () => saved)
  announce(said)
}

/** Members and agents by id, as rules name them. */
const usePeopleAndAgents = () =>
  useData('members installations rules', async () => {
    const query = { limit: 100 }
    const [members, agents] = await Promise.all([
      unwrap(api.GET('/console/members', { params: { query } })),
      unwrap(api.GET('/console/installations', { params: { query } })),
    ])
    return {
      people: Object.fromEntries(members.items.map(({ id, name }) => [id, sanitize(name)])),
      installed: Object.fromEntries(agents.items.map(({ app }) => [app.id, sanitize(app.name)])),
    }
  })

/** Agents that rules can name: the installed ones, and those that a rule names already. */
const namedAgents = ({ apps }: Rules, installed: Named): Named => ({
  ...Object.fromEntries(
    apps.map(({ id, name, is_installed }) => [
      id,
      is_installed ? sanitize(name) : t('{name} (not installed)', { name: sanitize(name) }),
    ]),
  ),
  ...installed,
})

/** People that a rule can name: the members, and those whom it names already. */
const namedPeople = ({ approvers }: Rule, members: Named): Named => ({
  ...Object.fromEntries(approvers.user_ids.map((id) => [id, t('a former member')])),
  ...members,
})

const namesOf = (ids: readonly string[], names: Named): string => ids.map((id) => names[id]).join(', ')

const time = (minutes: number): string =>
  minutes % 60 === 0
    ? t('{n, plural, one {# hour} other {# hours}}', { n: minutes / 60 })
    : t('{minutes} minutes', { minutes: count(minutes) })

/** A rule in words. */
const Sentence = ({ rule, people, agents }: { rule: Rule; people: Named; agents: Named }) => {
  const { role, user_ids } = rule.approvers
  const who = [role && ROLES[role], namesOf(user_ids, namedPeople(rule, people))].filter(Boolean).join(', ')
  const second = rule.second_person
  return (
    <dl class="facts">
      <dt>{t('Calls')}</dt>
      <dd>
        {t('{tools}{to, select, none {} other { to {hosts}}} of {agents}', {
          tools: rule.tools.length > 0 ? rule.tools.join(', ') : t('Any tool'),
          to: rule.hosts.length > 0 ? 'some' : 'none',
          hosts: rule.hosts.join(', '),
          agents: rule.app_ids.length > 0 ? namesOf(rule.app_ids, agents) : t('any agent'),
        })}
      </dd>
      <dt>{t('Approved by')}</dt>
      <dd>
        {who}
        {!rule.requester_may_approve && t(', but not the person who started the run')}
      </dd>
      {second && (
        <>
          <dt>{t('Two people')}</dt>
          <dd>
            {second.when === 'always'
              ? t('Always')
              : rich('If {field} is {amount} or more, or can’t be read', {
                  field: <code>{second.field}</code>,
                  amount: count(second.amount),
                })}
          </dd>
        </>
      )}
      <dt>{t('Waits')}</dt>
      <dd>
        {t('{expires_after_minutes}, then the call is rejected', {
          expires_after_minutes: time(rule.expires_after_minutes),
        })}
      </dd>
    </dl>
  )
}

const Ticks = ({
  label,
  all,
  options,
  chosen,
  onChange,
}: {
  label: string
  all: string
  options: Named
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
}) => (
  <fieldset>
    <legend>{label}</legend>
    <p class="hint">{all}</p>
    <div class="ticks">
      {Object.entries(options).map(([id, name]) => (
        <label key={id} class="tick">
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ currentTarget }) =>
              onChange(currentTarget.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
            }
          />
          <span>{name}</span>
        </label>
      ))}
    </div>
  </fieldset>
)

const NEW: Rule = {
  name: '',
  app_ids: [],
  tools: [],
  hosts: [],
  approvers: { role: 'owner', user_ids: [] },
  second_person: null,
  requester_may_approve: true,
  expires_after_minutes: 1_440,
}

const hostsIn = (text: string): string[] => [
  ...new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  ),
]

const Editor = ({
  rule,
  people,
  agents,
  send,
  onClose,
}: {
  rule: Rule
  people: Named
  agents: Named
  send: (rule: Rule) => Promise<void>
  onClose: () => void
}) => {
  const [now, setNow] = useState(rule)
  const [hosts, setHosts] = useState(rule.hosts.join('\n'))
  const second = now.second_person
  const set = (changes: Partial<Rule>) => setNow({ ...now, ...changes })
  const setSecond = (when: string) =>
    set({
      second_person:
        when === 'always' ? { when } : when === 'at_least' ? { when, field: 'body.amount', amount: 1_000 } : null,
    })
  return (
    <Modal title={rule.name ? t('Edit {name}', { name: rule.name }) : t('Add a rule')} onClose={onClose}>
      <Form
        verb={t('Save')}
        disabled={!now.name.trim() || (now.approvers.role === null && now.approvers.user_ids.length === 0)}
        send={() => send({ ...now, name: now.name.trim(), hosts: hostsIn(hosts) })}
        done={onClose}
      >
        <TextField label={t('Name')} value={now.name} maxLength={60} required onText={(name) => set({ name })} />
        <TextField
          label={t('Hosts')}
          hint={t('One a line, such as api.bank.example. *.bank.example is every name below it. Empty: any host.')}
          value={hosts}
          rows={2}
          spellcheck={false}
          onText={setHosts}
        />
        <Ticks
          label={t('Agents')}
          all={t('None chosen: any agent.')}
          options={agents}
          chosen={now.app_ids}
          onChange={(app_ids) => set({ app_ids })}
        />
        <Field label={t('Who may approve')}>
          {(field) => (
            <select
              {...field}
              value={now.approvers.role ?? ''}
              onChange={({ currentTarget }) =>
                set({
                  approvers: { ...now.approvers, role: (currentTarget.value || null) as Rule['approvers']['role'] },
                })
              }
            >
              {Object.entries(ROLES).map(([role, words]) => (
                <option key={role} value={role}>
                  {words}
                </option>
              ))}
              <option value="">{t('Only the people below')}</option>
            </select>
          )}
        </Field>
        <Ticks
          label={t('People')}
          all={t('They may approve whatever their role.')}
          options={namedPeople(rule, people)}
          chosen={now.approvers.user_ids}
          onChange={(user_ids) => set({ approvers: { ...now.approvers, user_ids } })}
        />
        <label class="tick">
          <input
            type="checkbox"
            checked={now.requester_may_approve}
            onChange={({ currentTarget }) => set({ requester_may_approve: currentTarget.checked })}
          />
          <span>{t('The person who started a run may approve its calls')}</span>
        </label>
        <Field label={t('Second person')}>
          {(field) => (
            <select
              {...field}
              value={second?.when ?? 'never'}
              onChange={({ currentTarget }) => setSecond(currentTarget.value)}
            >
              {Object.entries(SECOND).map(([when, words]) => (
                <option key={when} value={when}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        {second?.when === 'at_least' && (
          <>
            <TextField
              label={t('Field')}
              hint={t(
                'Its place in the call, such as body.amount or query.amount. If it can’t be read, two people approve.',
              )}
              value={second.field}
              spellcheck={false}
              onText={(field) => set({ second_person: { ...second, field } })}
            />
            <Field label={t('Amount')}>
              {(field) => (
                <input
                  {...field}
                  type="number"
                  step="any"
                  value={second.amount}
                  onInput={({ currentTarget }) =>
                    set({ second_person: { ...second, amount: currentTarget.valueAsNumber || 0 } })
                  }
                />
              )}
            </Field>
          </>
        )}
        <Field label={t('Waits for, in minutes')} hint={t('From 5 to 1,440. Then the call is rejected.')}>
          {(field) => (
            <input
              {...field}
              type="number"
              min={5}
              max={1_440}
              value={now.expires_after_minutes}
              onInput={({ currentTarget }) => set({ expires_after_minutes: currentTarget.valueAsNumber || 1_440 })}
            />
          )}
        </Field>
      </Form>
    </Modal>
  )
}

const List = ({ all, people, installed }: { all: Rules; people: Named; installed: Named }) => {
  const { rules } = all
  const agents = namedAgents(all, installed)
  const [edited, setEdited] = useState<number>()
  const { failure, act } = useAction()
  const swap = (i: number, by: number): void => {
    const next = [...rules]
    const [one] = next.splice(i, 1)
    if (one) next.splice(i + by, 0, one)
    void act(() => save(all, next, t('{name} is now rule {value}.', { name: one?.name ?? '', value: i + by + 1 })))
  }
  return (
    <>
      {failure && <Problem failure={failure} />}
      {rules.length === 0 && (
        <Empty title={t('No rules')}>
          <p>{t('Any member may approve any call of an agent.')}</p>
        </Empty>
      )}
      <ol class="rules">
        {rules.map((rule, i) => (
          <li key={rule.name} class="card">
            <h2>
              <span aria-hidden="true">{i + 1}. </span>
              <Name>{rule.name}</Name>
            </h2>
            <Sentence rule={rule} people={people} agents={agents} />
            {isOwner.value && (
              <div class="actions">
                <button type="button" onClick={() => setEdited(i)}>
                  {rich('Edit{name}', { name: <span class="unseen"> {sanitize(rule.name)}</span> })}
                </button>
                {i > 0 && (
                  <button type="button" onClick={() => swap(i, -1)}>
                    {rich('Move up{name}', { name: <span class="unseen"> {sanitize(rule.name)}</span> })}
                  </button>
                )}
                {i < rules.length - 1 && (
                  <button type="button" onClick={() => swap(i, 1)}>
                    {rich('Move down{name}', { name: <span class="unseen"> {sanitize(rule.name)}</span> })}
                  </button>
                )}
                <Confirm
                  label={t('Delete')}
                  quiet
                  title={t('Delete {name}?', { name: rule.name })}
                  verb={t('Delete rule')}
                  act={() =>
                    save(
                      all,
                      rules.filter((one) => one !== rule),
                      t('Rule deleted.'),
                    )
                  }
                >
                  <p>{t('Calls that it was for follow the next rule that they match.')}</p>
                </Confirm>
              </div>
            )}
          </li>
        ))}
      </ol>
      {isOwner.value ? (
        <button type="button" class="primary" onClick={() => setEdited(rules.length)}>
          {t('Add a rule')}
        </button>
      ) : (
        <p class="hint">{t('Owners can change the rules.')}</p>
      )}
      {edited !== undefined && (
        <Editor
          rule={rules[edited] ?? NEW}
          people={people}
          agents={agents}
          onClose={() => setEdited(undefined)}
          send={(rule) => {
            const next = [...rules]
            next[edited] = rule
            return save(all, next, t('Rules saved. They apply to the next decision.'))
          }}
        />
      )}
    </>
  )
}

const Absence = ({ people }: { people: Named }) => {
  const away = useData('away', () => unwrap(api.GET('/console/me/away')))
  const [delegate, setDelegate] = useState('')
  const [day, setDay] = useState('')
  const { busy, failure, act } = useAction()
  const me = identity.value?.user.id
  return (
    <Shown known={away} rows={1}>
      {(data) => (
        <>
          {data.for.map(({ person, until }) => (
            <p key={person.id} class="note">
              {rich('You approve for {name} until {time}.', {
                name: <Name>{person.name}</Name>,
                time: <When at={until} />,
              })}
            </p>
          ))}
          {data.away ? (
            <>
              <p>
                {rich('{name} approves for you until {time}.', {
                  name: <Name>{data.away.delegate.name}</Name>,
                  time: <When at={data.away.until} />,
                })}
              </p>
              {failure && <Problem failure={failure} />}
              <button
                type="button"
                aria-busy={busy}
                onClick={() =>
                  act(async () => {
                    await unwrap(api.DELETE('/console/me/away'))
                    announce(t('Welcome back. You approve yourself again.'))
                    away.reload()
                  })
                }
              >
                {t('I’m back')}
              </button>
            </>
          ) : (
            <Form
              verb={t('Set delegate')}
              disabled={!delegate || !day}
              send={async () => {
                const until = startOfDay(day, 1) ?? ''
                await unwrap(api.PUT('/console/me/away', { body: { delegate_id: delegate, until } }))
                announce(t('Your delegate may approve what you may.'))
                away.reload()
              }}
            >
              <Field
                label={t('Delegate')}
                hint={t(
                  'They may approve what you may, and can’t pass that on. Where two people have to approve, the two of you count as one.',
                )}
              >
                {(field) => (
                  <select {...field} value={delegate} onChange={(event) => setDelegate(event.currentTarget.value)}>
                    <option value="">{t('Choose a member')}</option>
                    {Object.entries(people)
                      .filter(([id]) => id !== me)
                      .map(([id, name]) => (
                        <option key={id} value={id}>
                          {name}
                        </option>
                      ))}
                  </select>
                )}
              </Field>
              <Field label={t('Last day')}>
                {(field) => (
                  <input {...field} type="date" value={day} onInput={(event) => setDay(event.currentTarget.value)} />
                )}
              </Field>
            </Form>
          )}
        </>
      )}
    </Shown>
  )
}

export default function ApprovalRules() {
  const rules = useData<Rules>(KEY, () => unwrap(api.GET('/console/settings/approvals')))
  const named = usePeopleAndAgents()
  const { people = {}, installed = {} } = named.data ?? {}
  return (
    <Screen title={t('Approval rules')} back={{ to: '/settings', label: t('Settings') }}>
      <p class="soft">
        {t(
          'The first rule that a call matches decides who may approve it. Calls that no rule is for can be approved by any member. Everyone who sees a call can reject it.',
        )}
      </p>
      <p class="soft">
        {rich('Calls of <code>http_fetch</code> need an approval each time, so no rule can allow them in advance.', {
          code: (text) => <code>{text}</code>,
        })}
      </p>
      <Shown known={rules} rows={3} tall>
        {(all) => <List all={all} people={people} installed={installed} />}
      </Shown>
      <section class="section" aria-labelledby="away">
        <h2 id="away">{t('While you’re away')}</h2>
        <Absence people={people} />
      </section>
    </Screen>
  )
}
