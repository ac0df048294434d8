import { useEffect, useState } from 'preact/hooks'
import { visible } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { TextField } from '../../../ui/form.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { pollNow } from '../live.ts'

type Call = Schemas['Approval'] & { text: string }

/**
 * Reads the call that waits for approval, page by page. It is whole once all pages are there and their SHA-256 is the
 * one that the platform named.
 */
const useCall = (runId: string, stepId: string) => {
  const [call, setCall] = useState<Call>()
  const [isWhole, setWhole] = useState(false)
  const { failure: problem, act } = useAction()
  const read = (before: Call | undefined) =>
    act(async () => {
      const offset = before?.arguments.next_offset ?? 0
      const path = { id: runId, step: stepId }
      const page = await unwrap(
        api.GET('/console/runs/{id}/steps/{step}/approval', { params: { path, query: { offset } } }),
      )
      const text = (before?.text ?? '') + page.arguments.text
      setCall({ ...page, text })
      setWhole(page.arguments.next_offset === null && (await sha256(text)) === page.arguments.sha256)
    })
  useEffect(() => {
    setCall(undefined)
    setWhole(false)
    void read(undefined)
  }, [runId, stepId])
  return { call, problem, isWhole, more: () => void read(call) }
}

const sha256 = async (text: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The request that the call sends, each part on a line of its own. */
const Request = ({ request }: { request: NonNullable<Call['request']> }) => (
  <dl class="facts request">
    <dt>Method</dt>
    <dd>
      <code>{request.method}</code>
    </dd>
    <dt>Origin</dt>
    <dd>
      <code>{visible(request.origin)}</code>
      {request.unicode_host && (
        <>
          {' '}
          (<Name>{request.unicode_host}</Name>)
        </>
      )}
      {request.mixed_scripts && <strong class="warning"> This name mixes scripts. It may imitate another one.</strong>}
    </dd>
    <dt>Path</dt>
    <dd>
      <code>{visible(request.path)}</code>
    </dd>
  </dl>
)

/** The arguments as they will be used, with invisible characters escaped. Indented once they are whole. */
const Arguments = ({ text, isWhole }: { text: string; isWhole: boolean }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable with the keyboard
  <section class="json" tabIndex={0} aria-label="Arguments">
    <pre>{visible(isWhole ? JSON.stringify(JSON.parse(text), null, 2) : text)}</pre>
  </section>
)

/** Asks the user to approve a dangerous call, and shows its exact arguments. */
export const Approval = ({
  runId,
  step,
  agent,
  onDecided,
}: {
  runId: string
  step: Pick<Schemas['RunStep'], 'id' | 'tool' | 'output'>
  agent: string
  onDecided: (run: Schemas['Run']) => void
}) => {
  const [comment, setComment] = useState('')
  const { busy, failure, act } = useAction()
  const { call, problem, more, isWhole } = useCall(runId, step.id)
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
        decision === 'approve' ? 'Approved. The run continues.' : 'Rejected. The run continues without this call.',
      )
      onDecided(run)
      pollNow()
    })
  return (
    <section class="card urgent" aria-label={`Approve ${step.tool ?? 'a call'}`}>
      <h2>
        <Name>{agent}</Name> wants to use <code>{step.tool}</code>
      </h2>
      <p>If you approve, this call runs once, exactly as shown here.</p>
      {call?.request && <Request request={call.request} />}
      {call && <Arguments text={call.text} isWhole={isWhole} />}
      {call && (
        <p class="hint">
          {call.arguments.bytes} bytes, SHA-256 <code>{call.arguments.sha256}</code>
        </p>
      )}
      {call && !isWhole && (
        <p>
          You see {call.text.length} of {call.arguments.characters} characters. Read the rest before you approve.{' '}
          <button type="button" onClick={more}>
            Show more
          </button>
        </p>
      )}
      {problem && <Problem failure={problem} />}
      <TextField
        label="Comment"
        hint="Optional. Saved with your decision."
        value={comment}
        maxLength={2000}
        onText={setComment}
      />
      {failure && <Problem failure={failure} />}
      <div class="actions" aria-busy={busy}>
        <button type="button" class="primary" disabled={!isWhole} onClick={() => decide('approve')}>
          Approve
        </button>
        <button type="button" class="danger" onClick={() => decide('reject')}>
          Reject
        </button>
      </div>
    </section>
  )
}
