import { useEffect, useState } from 'preact/hooks'
import { visible } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Boundary } from '../../../ui/boundary.tsx'
import { TextField } from '../../../ui/form.tsx'
import { part } from '../../../ui/lazy.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/screen.tsx'
import { Name, Prose, When } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { pollNow } from '../live.ts'
import { type Part, partsOf } from './call-parts.ts'
import { headline } from './headline.ts'
import { Tree } from './tree.tsx'

type Call = Schemas['Approval'] & { text: string }

const loadDifferences = () => import('./differences.tsx')
const loadReading = () => import('./reading.tsx')

/**
 * Reads the call that waits for approval, page by page. It is whole once all pages are there and their SHA-256 is the
 * one that the platform named.
 */
const useCall = (runId: string, stepId: string) => {
  const [call, setCall] = useState<Call>()
  const [isWhole, setWhole] = useState<boolean>()
  const { failure: problem, act } = useAction()
  const read = (before: Call | undefined) =>
    act(async () => {
      const offset = before?.arguments.next_offset ?? 0
      const path = { id: runId, step: stepId }
      const page = await unwrap(
        api.GET('/console/runs/{id}/steps/{step}/approval', { params: { path, query: { offset } } }),
      )
      const text = (before?.text ?? '') + page.arguments.text
      const isEnd = page.arguments.next_offset === null
      // All of the card is there at once, so that its buttons don't move under the pointer.
      const [digest] = await Promise.all([
        isEnd ? sha256(text) : undefined,
        page.last_approved && loadDifferences(),
        page.rule?.reading && loadReading(),
      ])
      setCall({ ...page, last_approved: before?.last_approved ?? page.last_approved, text })
      setWhole(isEnd ? digest === page.arguments.sha256 : undefined)
    })
  const again = (): void => {
    setCall(undefined)
    setWhole(undefined)
    void read(undefined)
  }
  useEffect(again, [runId, stepId])
  return { call, problem, isWhole, more: () => void read(call), again }
}

const sha256 = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The request that the call sends, each part on a line of its own. */
const Request = ({ request }: { request: NonNullable<Call['request']> }) => (
  <dl class="facts request">
    <dt>{t('Method')}</dt>
    <dd>
      <code>{request.method}</code>
    </dd>
    <dt>{t('Origin')}</dt>
    <dd>
      <code>{visible(request.origin)}</code>
      {request.unicode_host && (
        <>
          {' '}
          (<Name>{request.unicode_host}</Name>)
        </>
      )}
      {request.mixed_scripts && (
        <strong class="warning"> {t('This name mixes scripts. It may imitate another one.')}</strong>
      )}
    </dd>
    <dt>{t('Path')}</dt>
    <dd>
      <code>{visible(request.path)}</code>
    </dd>
  </dl>
)

/** The arguments as they will be used, with invisible characters escaped. Indented once they are whole. */
const Arguments = ({ text, isWhole }: { text: string; isWhole: boolean }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable with the keyboard
  <section class="json" tabIndex={0} aria-label={t('Arguments')}>
    <pre>{visible(isWhole ? JSON.stringify(JSON.parse(text), null, 2) : text)}</pre>
  </section>
)

const PartView = ({ part }: { part: Part }) => (
  <section class="part">
    <h3>{part.name}</h3>
    {part.kind === 'tree' && <Tree value={part.value} />}
    {part.kind === 'text' && <span class="exact">{visible(part.text)}</span>}
    {part.kind === 'table' && (
      <dl class="tree">
        {part.rows.map(([name, value], i) => (
          <div key={i}>
            <dt>{visible(name)}</dt>
            <dd class="exact">{visible(value) || <i class="soft">{t('empty')}</i>}</dd>
          </div>
        ))}
      </dl>
    )}
  </section>
)

/** The call in parts that people can read, with the exact JSON one click away. */
const Parts = ({ call: { tool, text, arguments: exact } }: { call: Call }) => {
  const [isRaw, setRaw] = useState(false)
  const parts = partsOf(tool, text)
  return (
    <>
      {isRaw ? (
        <>
          <Arguments text={text} isWhole />
          <p class="hint">
            {rich('{bytes} bytes, SHA-256 {sha256}', { bytes: exact.bytes, sha256: <code>{exact.sha256}</code> })}
          </p>
        </>
      ) : (
        parts.map((part) => <PartView key={part.name} part={part} />)
      )}
      <p>
        <button type="button" class="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          {t('Exact JSON')}
        </button>
      </p>
    </>
  )
}

const Differences = part(async () => ({ default: (await loadDifferences()).Differences }))

const Reading = part(async () => ({ default: (await loadReading()).Reading }))

/** Effect of the workspace's rules: who approves, who has already, and in whose place the user would. */
const Rule = ({ rule }: { rule: NonNullable<Call['rule']> }) => {
  const { name, approvers, required, reading, approved_by, you_may_approve: mayApprove, on_behalf_of: absent } = rule
  const mine = approved_by.some(({ by }) => by.id === identity.value?.user.id)
  if (!name) return null
  return (
    <div class="note">
      <p>
        {rich('Rule {name}: {approvers} may approve this call', {
          name: <Name>{name}</Name>,
          approvers: <Name>{approvers}</Name>,
        })}
        {required > 1 && t(', and a second person has to as well')}.
      </p>
      {reading && <Reading reading={reading} />}
      {approved_by.map(({ by, on_behalf_of, at, comment }) => (
        <p key={by.id}>
          {on_behalf_of
            ? rich('Approved by {name} for {other}', {
                name: <Name>{by.name}</Name>,
                other: <Name>{on_behalf_of.name}</Name>,
              })
            : rich('Approved by {name}', { name: <Name>{by.name}</Name> })}
          , <When at={at} />
          {comment && (
            <>
              : <Prose text={comment} />
            </>
          )}
        </p>
      ))}
      {mine ? (
        <p>{t('Somebody else has to approve it now.')}</p>
      ) : (
        !mayApprove && <p>{t('You can’t approve it, but you can reject it.')}</p>
      )}
      {absent && <p>{rich('You decide for {name}, who is away.', { name: <Name>{absent.name}</Name> })}</p>}
    </div>
  )
}

interface Asked {
  runId: string
  step: Pick<Schemas['RunStep'], 'id' | 'tool'>
  agent: string
  onDecided: (run: Schemas['Run']) => void
  /** Identical calls that wait, this one included, which can be approved together. */
  bundle?: { size: number; approve: (sha256: string) => Promise<void> }
}

const Form = ({ runId, step, agent, onDecided, bundle }: Asked) => {
  const [comment, setComment] = useState('')
  const { failure, act } = useAction()
  const { call, problem, more, again, isWhole } = useCall(runId, step.id)
  const decide = (decision: 'approve' | 'reject') =>
    act(async () => {
      const body = {
        decision,
        ...(comment.trim() && { comment: comment.trim() }),
        ...(decision === 'approve' && call && { arguments_sha256: call.arguments.sha256 }),
      }
      const path = { id: runId, step: step.id }
      const run = await unwrap(api.POST('/console/runs/{id}/steps/{step}/decision', { params: { path }, body }))
      announce(
        decision === 'reject'
          ? t('Rejected. The run continues without this call.')
          : run.status === 'awaiting_approval'
            ? t('Approved. A second person has to approve it, too.')
            : t('Approved. The run continues.'),
      )
      if (run.status === 'awaiting_approval') again()
      onDecided(run)
      pollNow()
    })
  if (!call && !problem) return <Skeleton rows={1} tall />
  return (
    <article class="card urgent" aria-label={t('Approve {tool}', { tool: step.tool ?? t('a call') })}>
      <h2>{visible(headline(call?.request, step.tool))}</h2>
      <p>
        {call?.requested_by
          ? rich('{agent} asks to use {tool} for {name}.', {
              agent: <Name>{agent}</Name>,
              tool: <code>{step.tool}</code>,
              name: <Name>{call.requested_by.name}</Name>,
            })
          : rich('{agent} asks to use {tool}.', { agent: <Name>{agent}</Name>, tool: <code>{step.tool}</code> })}{' '}
        {t('If you approve, this call runs once, exactly as shown here.')}
        {call?.expires_at && (
          <> {rich('Without a decision, it’s rejected {time}.', { time: <When at={call.expires_at} /> })}</>
        )}
      </p>
      {call?.reason && (
        <blockquote class="reason">
          <span class="hint">{t('The agent’s reason')}</span>
          <Prose text={call.reason} />
        </blockquote>
      )}
      {call?.request && <Request request={call.request} />}
      {call?.last_approved && isWhole && <Differences tool={call.tool} text={call.text} last={call.last_approved} />}
      {call && (isWhole ? <Parts call={call} /> : <Arguments text={call.text} isWhole={false} />)}
      {call && isWhole === false && (
        <p class="problem">
          {t('The call changed while it was read.')}{' '}
          <button type="button" onClick={again}>
            {t('Read it again')}
          </button>
        </p>
      )}
      {call && isWhole === undefined && (
        <p>
          {t('You see {text} of {characters} characters. Read the rest before you approve.', {
            text: call.text.length,
            characters: call.arguments.characters,
          })}{' '}
          <button type="button" onClick={more}>
            {t('Show more')}
          </button>
        </p>
      )}
      {call?.rule && <Rule rule={call.rule} />}
      {problem && <Problem failure={problem} />}
      <TextField
        label={t('Comment')}
        hint={t('Optional. Saved with your decision.')}
        value={comment}
        maxLength={2000}
        onText={setComment}
      />
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button
          type="button"
          class="primary"
          data-decision="approve"
          disabled={!isWhole || call?.rule?.you_may_approve === false}
          onClick={() => decide('approve')}
        >
          {t('Approve')}
        </button>
        {bundle && (
          <button
            type="button"
            disabled={!isWhole || call?.rule?.you_may_approve === false}
            onClick={() => act(async () => call && bundle.approve(call.arguments.sha256))}
          >
            {t('Approve all {size} identical calls', { size: bundle.size })}
          </button>
        )}
        <button type="button" class="danger" data-decision="reject" onClick={() => decide('reject')}>
          {t('Reject')}
        </button>
      </div>
    </article>
  )
}

/** Asks the user to approve a dangerous call, and shows its exact arguments. What can't be shown can't be approved. */
export const Approval = (asked: Asked) => (
  <Boundary kind="call" about={asked.step.id}>
    <Form {...asked} />
  </Boundary>
)
