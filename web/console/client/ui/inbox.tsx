import { Fragment } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { loadItem, saveItem } from '../../../session/store.ts'
import { sanitize, visible } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Boundary } from '../../../ui/boundary.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { count, dateText } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icons.tsx'
import { part } from '../../../ui/lazy.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, Skeleton } from '../../../ui/screen.tsx'
import { useScript } from '../../../ui/script.ts'
import { Name, Prose, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { isInboxWanted, useWaiting } from '../waiting.ts'
import { headline } from './headline.ts'
import { moveByKey } from './inbox-keys.ts'
import { plainText } from './plain-text.ts'
import { announceUndoable } from './undo.ts'

type Item = Schemas['WaitingItem']

const reload = (): Promise<unknown> => refresh('inbox', 'runs', 'tasks', 'messages', 'messenger')

/** Reloads after a decision. Its form goes first, so its item takes the focus. */
const onDecided = (): void => {
  document.activeElement?.closest<HTMLElement>('[data-item]')?.focus()
  void reload()
}

const KINDS: Record<Item['kind'], string> = {
  approval: t('Approval'),
  question: t('Question'),
  task: t('Task'),
  draft: t('Draft'),
}

const ICONS = { approval: 'key', question: 'chat', task: 'tasks', draft: 'messenger' } as const

const kindOf = ({ kind, status }: Item): string =>
  kind !== 'task' ? KINDS[kind] : status === 'review' ? t('Task to review') : t('Task with a question')

/** The item in a few words. The API names calls in English. */
const titleOf = ({ kind, title, request, tool }: Item): string =>
  kind === 'approval' && tool ? visible(headline(request, tool) + pathOf(request)) : sanitize(plainText(title))

/** An amount as the call has it: “amount 1,240 EUR”. Its unit is the receiver's, so it isn't formatted as money. */
const amountOf = ({ amount }: Item): string | undefined =>
  amount ? `${amount.field} ${count(amount.value)}${amount.currency ? ` ${amount.currency}` : ''}` : undefined

/** The path that a call asks for, which tells it apart from the agent's other calls. */
const pathOf = (request: Item['request']): string => (request && request.path !== '/' ? request.path : '')

/** Times until which something can be put aside, from now. */
const LATER: Record<string, { label: string; time: () => Date }> = {
  hour: { label: t('1 hour'), time: () => new Date(Date.now() + 3_600_000) },
  morning: { label: t('Tomorrow morning'), time: () => morningIn(1) },
  monday: {
    label: t('Next Monday'),
    time: () => morningIn(((8 - new Date().getDay()) % 7) + (new Date().getDay() === 1 ? 7 : 0)),
  },
}

const morningIn = (days: number): Date => {
  const at = new Date()
  at.setDate(at.getDate() + days)
  at.setHours(9, 0, 0, 0)
  return at
}

const snooze = async (ids: string[], until: string | null, isUndo = false): Promise<void> => {
  await unwrap(api.PUT('/console/inbox/snoozes', { body: { ids, until } }))
  if (isUndo) return void (await reload())
  if (until === null) announce(t('Back in your inbox.'))
  else announceUndoable(t('Snoozed. It comes back then.'), () => snooze(ids, null, true))
  await reload()
}

const Snooze = ({ ids, label, onDone }: { ids: string[]; label: string; onDone?: () => void }) => {
  const { failure, act } = useAction()
  return (
    <>
      <select
        class="narrow"
        aria-label={label}
        data-snooze
        value=""
        onChange={({ currentTarget }) => {
          const later = LATER[currentTarget.value]
          if (later) void act(async () => snooze(ids, later.time().toISOString())).then((done) => done && onDone?.())
        }}
      >
        <option value="">{t('Snooze')}</option>
        {Object.entries(LATER).map(([name, { label: words }]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
      {failure && <Problem failure={failure} />}
    </>
  )
}

/** Decides several calls at once. Only identical ones can be approved together, because each has to be read. */
const decideAll = async (
  decision: 'approve' | 'reject',
  items: readonly Item[],
  arguments_sha256?: string,
): Promise<void> => {
  const calls = items.flatMap(({ run_id, id }) => (run_id === null ? [] : [{ run_id, step_id: id }]))
  const { results } = await unwrap(
    api.POST('/console/approvals/decisions', {
      body: { decision, calls, ...(arguments_sha256 && { arguments_sha256 }) },
    }),
  )
  const failed = results.flatMap(({ error }) => error ?? [])
  const done = results.length - failed.length
  await reload()
  announce(
    [
      t('{decision, select, approve {Approved} other {Rejected}} {done} of {results} calls.', {
        decision,
        done,
        results: results.length,
      }),
      ...new Set(failed.map(({ message }) => message)),
    ].join(' '),
  )
}

// Few visits open an item.
const Approval = part(async () => ({ default: (await import('./approval.tsx')).Approval }))
const loadQuestions = () => import('./questions.tsx')

const Question = ({ item }: { item: Item }) => {
  const asked = useData('runs questions', () =>
    unwrap(api.GET('/console/input-requests', { params: { query: { limit: 100 } } })),
  )
  const { script } = useScript(loadQuestions)
  const found = asked.data?.items.find(({ step_id }) => step_id === item.id)
  if (!script) return <Skeleton rows={1} tall />
  if (!found) return asked.data ? <p class="soft">{t('This question was answered.')}</p> : <Skeleton rows={1} tall />
  return (
    <script.Questions
      runId={found.run_id}
      agent={found.agent.name}
      questions={found.input_requests}
      answered={found.answered}
      onAnswered={onDecided}
    />
  )
}

const Draft = ({ item }: { item: Item }) => {
  const { failure, act } = useAction()
  const path = { id: item.id }
  return (
    <div class="card urgent">
      <Prose text={item.text ?? ''} />
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button
          type="button"
          class="primary"
          data-decision="approve"
          onClick={() =>
            act(async () => {
              await unwrap(api.POST('/console/messenger/messages/{id}/approve', { params: { path }, body: {} }))
              announce(t('Approved. Sending the message…'))
              await reload()
            })
          }
        >
          {t('Approve and send')}
        </button>
        <button type="button" class="danger" data-decision="reject" onClick={() => act(() => rejectDraft(item))}>
          {t('Reject')}
        </button>
        <a href={`#/messenger/${item.chat_id}`}>{t('Edit in the thread')}</a>
      </div>
    </div>
  )
}

const rejectDraft = async ({ id }: Item): Promise<void> => {
  await unwrap(api.POST('/console/messenger/messages/{id}/reject', { params: { path: { id } } }))
  await reload()
  announce(t('Draft rejected. Nothing was sent.'))
}

const setStatus = async (id: string, status: 'done' | 'review'): Promise<void> => {
  await unwrap(api.PATCH('/console/tasks/{id}', { params: { path: { id } }, body: { status } }))
  await reload()
}

const finishTask = async ({ id }: Item): Promise<void> => {
  await setStatus(id, 'done')
  announceUndoable(t('Task done.'), () => setStatus(id, 'review'))
}

const Task = ({ item }: { item: Item }) => {
  const { failure, act } = useAction()
  return (
    <div class="card">
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <a class="button" href={`#/tasks/${item.id}`} data-decision="answer">
          {item.status === 'review' ? t('Read the report') : t('Read the question')}
        </a>
        {item.status === 'review' && (
          <button type="button" data-decision="approve" onClick={() => act(() => finishTask(item))}>
            {t('Mark as done')}
          </button>
        )}
      </div>
    </div>
  )
}

const Call = ({ item, identical }: { item: Item; identical: Item[] }) => (
  <Approval
    runId={item.run_id ?? ''}
    step={{ id: item.id, tool: item.tool }}
    agent={item.agent?.name ?? t('An agent')}
    onDecided={onDecided}
    {...(identical.length > 1 && {
      bundle: { size: identical.length, approve: (sha256: string) => decideAll('approve', identical, sha256) },
    })}
  />
)

const Body = ({ item, identical }: { item: Item; identical: Item[] }) => {
  if (item.kind === 'task') return <Task item={item} />
  if (item.kind === 'draft') return <Draft item={item} />
  return (
    <>
      {item.kind === 'question' ? <Question item={item} /> : <Call item={item} identical={identical} />}
      <p class="hint">
        <a href={`#/runs/${item.run_id}`}>{t('View run')}</a>
      </p>
    </>
  )
}

const Row = ({
  item,
  identical,
  isChosen,
  onChoose,
}: {
  item: Item
  /** Identical calls that wait, this one included. They are one row. */
  identical: Item[]
  isChosen: boolean
  onChoose: (is: boolean) => void
}) => {
  const [isOpen, setOpen] = useState(false)
  const title = titleOf(item)
  const own = useRef<HTMLLIElement>(null)
  useLayoutEffect(() => {
    const { current } = own
    // A decided item leaves the list, and its neighbour takes the focus.
    return () => {
      for (const next of [current?.nextElementSibling, current?.previousElementSibling, document.querySelector('h1')])
        if (current?.contains(document.activeElement)) (next as HTMLElement | null)?.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: reached with the keys of the list
    <li ref={own} data-item tabIndex={0} aria-label={`${kindOf(item)}: ${title}`}>
      <div class="row folds">
        <input
          type="checkbox"
          data-select
          aria-label={t('Select {title}', { title })}
          checked={isChosen}
          onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
        />
        <Icon name={ICONS[item.kind]} />
        <span class="grow">
          <strong class="line">
            {title}
            {amountOf(item) && <span class="state plain">{amountOf(item)}</span>}
          </strong>
          {item.reason && (
            <span class="line">
              <Name>{plainText(item.reason)}</Name>
            </span>
          )}
          <span class="soft">
            {kindOf(item)}
            {item.agent && (
              <>
                {' · '}
                <Name>{item.agent.name}</Name>
              </>
            )}
            {' · '}
            <When at={item.created_at} />
            {identical.length > 1 && t(' · {identical} identical calls wait', { identical: identical.length })}
          </span>
        </span>
        {item.snoozed_until === null ? (
          <Snooze ids={identical.map(({ id }) => id)} label={t('Snooze {title}', { title })} />
        ) : (
          <button
            type="button"
            onClick={() =>
              void snooze(
                identical.map(({ id }) => id),
                null,
              )
            }
          >
            {rich('Wake up{title}', { title: <span class="unseen"> {title}</span> })}
          </button>
        )}
        <button type="button" data-open aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t('Close') : t('Open')}
          <span class="unseen"> {title}</span>
        </button>
      </div>
      {isOpen && (
        <Boundary kind="item" about={item}>
          <Body item={item} identical={identical} />
        </Boundary>
      )}
    </li>
  )
}

/** Decisions on all that is selected. */
const Bulk = ({ items, onDone }: { items: Item[]; onDone: () => void }) => {
  const { failure, act } = useAction()
  const calls = items.filter(({ kind }) => kind === 'approval')
  const drafts = items.filter(({ kind }) => kind === 'draft')
  const reports = items.filter(({ kind, status }) => kind === 'task' && status === 'review')
  const run = (what: () => Promise<unknown>) => void act(what).then((done) => done && onDone())
  return (
    <section class="bulk card" aria-label={t('Selected items')}>
      <strong>{t('{items} selected', { items: items.length })}</strong>
      {calls.length > 0 && (
        <button type="button" class="danger" onClick={() => run(() => decideAll('reject', calls))}>
          {t('Reject {n, plural, one {# call} other {# calls}}', { n: calls.length })}
        </button>
      )}
      {drafts.length > 0 && (
        <button
          type="button"
          class="danger"
          onClick={() =>
            run(async () => {
              for (const draft of drafts) await rejectDraft(draft)
            })
          }
        >
          {t('Reject {n, plural, one {# draft} other {# drafts}}', { n: drafts.length })}
        </button>
      )}
      {reports.length > 0 && (
        <button
          type="button"
          onClick={() =>
            run(async () => {
              for (const task of reports) await finishTask(task)
            })
          }
        >
          {t('Mark {n, plural, one {# task} other {# tasks}} as done', { n: reports.length })}
        </button>
      )}
      <Snooze ids={items.map(({ id }) => id)} label={t('Snooze the selected items')} onDone={onDone} />
      <button type="button" class="quiet" onClick={onDone}>
        {t('Clear selection')}
      </button>
      {failure && <Problem failure={failure} />}
    </section>
  )
}

type Grouping = '' | 'agent' | 'day'

const dayOf = (at: string): string => {
  const day = (ms: number): string => new Date(ms).toLocaleDateString('sv')
  const on = day(Date.parse(at))
  if (on === day(Date.now())) return t('Today')
  return on === day(Date.now() - 86_400_000) ? t('Yesterday') : dateText(on)
}

/** Splits items into groups, in the order of their first items. Days come newest first. */
const groupsOf = (rows: readonly Item[], by: Grouping): [name: string, items: Item[]][] => {
  const groups = new Map<string, Item[]>()
  const sorted = by === 'day' ? [...rows].sort((a, b) => (a.created_at < b.created_at ? 1 : -1)) : rows
  for (const item of sorted) {
    const name =
      by === 'day' ? dayOf(item.created_at) : by === 'agent' ? (item.agent?.name ?? t('Without an agent')) : ''
    groups.set(name, [...(groups.get(name) ?? []), item])
  }
  return [...groups]
}

/** Returns the item that came last, once the list was there. */
const useArrived = (rows: readonly Item[] | undefined): Item | undefined => {
  const known = useRef<ReadonlySet<string>>(undefined)
  const [arrived, setArrived] = useState<Item>()
  const ids = rows?.map(({ id }) => id).join(' ')
  useEffect(() => {
    if (!rows) return
    const before = known.current
    known.current = new Set([...(before ?? []), ...rows.map(({ id }) => id)])
    const latest = before && rows.find(({ id }) => !before.has(id))
    if (latest) setArrived(latest)
  }, [ids])
  return arrived
}

const shortcut = /Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘ .' : t('Ctrl .')

/** All that waits for the user in one list, decided with the keyboard or several at once. */
export const Inbox = () => {
  const { known, active, snoozed } = useWaiting()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [isAsideShown, setAsideShown] = useState(false)
  const [isOwnOnly, setOwnOnly] = useState(false)
  const [grouping, setGrouping] = useState<Grouping>(() => loadItem<Grouping>('inbox-groups') ?? '')
  const list = useRef<HTMLDivElement>(null)
  const all = isAsideShown ? [...active, ...snoozed] : active
  const hasBoth = all.some(({ is_yours }) => is_yours) && all.some(({ is_yours }) => !is_yours)
  const items = hasBoth && isOwnOnly ? all.filter(({ is_yours }) => is_yours) : all
  const selected = items.filter(({ id }) => chosen.includes(id))
  const bundleOf = (item: Item): Item[] =>
    item.bundle === null ? [item] : items.filter(({ bundle }) => bundle === item.bundle)
  const rows = items.filter((item) => bundleOf(item)[0] === item)
  const arrived = useArrived(known.data && rows)
  const isWanted = isInboxWanted.value && known.data !== undefined
  useEffect(() => {
    if (!isWanted) return
    isInboxWanted.value = false
    // Afterwards, because a new screen focuses its heading.
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[data-item]')?.focus())
  }, [isWanted])
  if (known.failure && !known.data) return <Problem failure={known.failure} retry={known.reload} />
  if (!known.data) return <Skeleton rows={1} tall />
  return (
    <>
      <p class="unseen" role="status">
        {arrived && `${kindOf(arrived)}: ${titleOf(arrived)}`}
      </p>
      <div class="inbox-bar">
        {hasBoth && (
          <fieldset class="segments">
            <legend class="unseen">{t('Shown items')}</legend>
            {[false, true].map((own) => (
              <label key={String(own)}>
                <input type="radio" name="shown" checked={isOwnOnly === own} onChange={() => setOwnOnly(own)} />
                <span>{own ? t('Yours') : t('Everybody’s')}</span>
              </label>
            ))}
          </fieldset>
        )}
        {rows.length > 1 && (
          <label class="grouping">
            <span>{t('Group by')}</span>
            <select
              class="narrow"
              value={grouping}
              onChange={({ currentTarget }) => {
                setGrouping(currentTarget.value as Grouping)
                saveItem('inbox-groups', currentTarget.value)
              }}
            >
              <option value="">{t('Nothing')}</option>
              <option value="agent">{t('Agent')}</option>
              <option value="day">{t('Day')}</option>
            </select>
          </label>
        )}
      </div>
      {items.length > 0 && (
        <p class="hint keys">
          {rich(
            'Press {kbd9} to begin. {kbd} {kbd2} move · {kbd3} open · {kbd4} approve or answer · {kbd5} reject · {kbd6} snooze · {kbd8} select · <kbd7>Enter</kbd7> confirms',
            {
              kbd: <kbd>j</kbd>,
              kbd2: <kbd>k</kbd>,
              kbd3: <kbd>o</kbd>,
              kbd4: <kbd>a</kbd>,
              kbd5: <kbd>r</kbd>,
              kbd6: <kbd>s</kbd>,
              kbd7: (text) => <kbd>{text}</kbd>,
              kbd8: <kbd>x</kbd>,
              kbd9: <kbd>{shortcut}</kbd>,
            },
          )}
        </p>
      )}
      {selected.length > 0 && <Bulk items={selected} onDone={() => setChosen([])} />}
      {items.length === 0 ? (
        <Empty icon="home" title={t('You’re all caught up')}>
          <p>{t('Approvals, questions, reports and drafts from your agents appear here.')}</p>
        </Empty>
      ) : (
        <div ref={list}>
          {groupsOf(rows, grouping).map(([name, grouped]) => (
            <Fragment key={name}>
              {name && (
                <h3>
                  {sanitize(name)} <span class="soft">{grouped.length}</span>
                </h3>
              )}
              <ul class="inbox" onKeyDown={moveByKey}>
                {grouped.map((item) => {
                  const identical = bundleOf(item)
                  const ids = identical.map(({ id }) => id)
                  return (
                    <Row
                      key={item.id}
                      item={item}
                      identical={identical}
                      isChosen={chosen.includes(item.id)}
                      onChoose={(is) => setChosen([...chosen.filter((id) => !ids.includes(id)), ...(is ? ids : [])])}
                    />
                  )
                })}
              </ul>
            </Fragment>
          ))}
        </div>
      )}
      {snoozed.length > 0 && (
        <button type="button" class="quiet" aria-pressed={isAsideShown} onClick={() => setAsideShown(!isAsideShown)}>
          {isAsideShown ? t('Hide') : t('Show')} {t('{snoozed} snoozed', { snoozed: snoozed.length })}
        </button>
      )}
    </>
  )
}
