import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { refresh } from '../../../ui/data.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { followRun } from '../follow-run.ts'
import { pollNow } from '../live.ts'
import { Markdown } from './markdown.tsx'
import { writtenIn } from './written.ts'

/** An answer that is still being written, as far as the agent has reported it, with a button that stops it. */
export default function Answering({ runId, name }: { runId: string; name: string }) {
  const [text, setText] = useState('')
  const { busy, failure, act } = useAction()
  useEffect(() => {
    const steps = new Map<string, Schemas['RunStep']>()
    const stop = new AbortController()
    void followRun(
      runId,
      {
        step(step) {
          steps.set(step.id, step)
          setText(writtenIn([...steps.values()]))
        },
        state({ status }) {
          if (status === 'succeeded' || status === 'failed' || status === 'cancelled') pollNow()
        },
        gap() {},
        connected() {},
      },
      stop.signal,
    )
    return () => stop.abort()
  }, [runId])
  const stop = () =>
    act(async () => {
      await unwrap(api.POST('/console/runs/{id}/cancel', { params: { path: { id: runId } } }))
      await refresh('messages', 'runs')
      // The button is gone.
      document.getElementById('message')?.focus()
    })
  return (
    <>
      {text && (
        // The whole answer is announced once it is there.
        <div class="message partial" aria-busy>
          <p class="by">
            <b>
              <Name>{name}</Name>
            </b>
            <span>{t('is writing')}</span>
          </p>
          <Markdown text={text} />
        </div>
      )}
      {failure && <Problem failure={failure} />}
      <p class="soft working">
        <span class="dots" aria-hidden="true" />
        <span>{rich('{name} is working on it.', { name: <Name>{name}</Name> })}</span>
        <a href={`#/runs/${runId}`}>{t('Watch')}</a>
        <button type="button" class="quiet small" aria-busy={busy} onClick={stop}>
          {t('Stop')}
        </button>
      </p>
    </>
  )
}
