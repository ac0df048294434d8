import { useState } from 'preact/hooks'
import { useAct } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { TextField } from '../../../ui/form.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { Json, Name } from '../../../ui/text.tsx'
import { api, type Schemas, take } from '../api.ts'
import { lookNow } from '../live.ts'

/** Asks for a person’s word about a dangerous call, with exactly what would be done. */
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
  const { busy, failure, act } = useAct()
  const decide = (decision: 'approve' | 'reject') =>
    act(async () => {
      const body = { decision, ...(comment.trim() && { comment: comment.trim() }) }
      const path = { id: runId, step: step.id }
      const run = await take(api.POST('/console/runs/{id}/steps/{step}/decision', { params: { path }, body }))
      announce(decision === 'approve' ? 'Approved. The run goes on.' : 'Rejected. The run goes on without it.')
      onDecided(run)
      lookNow()
    })
  const { arguments: given, clipped } = step.output as { arguments?: unknown; clipped?: boolean }
  return (
    <section class="card urgent" aria-label={`Approval of ${step.tool ?? 'a call'}`}>
      <h2>
        <Name>{agent}</Name> wants to use <code>{step.tool}</code>
      </h2>
      <p>It happens once, exactly as shown here, and only if you approve it.</p>
      <Json label="What it would be called with" value={given ?? step.output} />
      {clipped && (
        <p class="hint">It is too long to be shown whole: values end with “…”. Reject it if you are in doubt.</p>
      )}
      <TextField
        label="Comment"
        hint="For the record; not required."
        value={comment}
        maxLength={2000}
        onText={setComment}
      />
      {failure && <Problem failure={failure} />}
      <div class="actions" aria-busy={busy}>
        <button type="button" class="primary" onClick={() => decide('approve')}>
          Approve
        </button>
        <button type="button" class="danger" onClick={() => decide('reject')}>
          Reject
        </button>
      </div>
    </section>
  )
}
