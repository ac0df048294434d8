import type { ComponentChildren } from 'preact'
import { sanitize } from '../../../session/text.ts'
import { refresh, useData } from '../../../ui/data.ts'
import { count, duration } from '../../../ui/format.ts'
import { Empty, Screen, Shown, Skeleton } from '../../../ui/screen.tsx'
import { Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { Approval } from '../ui/approval.tsx'
import { Days } from '../ui/days.tsx'
import { moveByKey } from '../ui/inbox-keys.ts'
import { Questions } from '../ui/questions.tsx'
import { useWaiting } from '../waiting.ts'
import { RunRow } from './runs.tsx'

type Run = Schemas['Run']

/** One of the things that wait, which the keys of the list move to. */
const Item = ({ name, children }: { name: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: reached with the keys of the list
  <section class="waits" data-item tabIndex={0} aria-label={sanitize(name)}>
    {children}
  </section>
)

/** A run that waits for approval, with the pending step. */
const Waiting = ({ run }: { run: Run }) => {
  const whole = useData<Run>(`runs one ${run.id}`, () =>
    unwrap(api.GET('/console/runs/{id}', { params: { path: { id: run.id } } })),
  )
  const step = whole.data?.steps?.find(({ type, status }) => type === 'approval' && status === 'pending')
  if (!whole.data) return <Skeleton rows={1} tall />
  if (!step || whole.data.status !== 'awaiting_approval') return null
  return (
    <Item name={`Approval for ${run.agent.id}`}>
      <Approval runId={run.id} step={step} agent={run.agent.id} onDecided={() => void refresh('runs')} />
      <p class="hint">
        <a href={`#/runs/${run.id}`}>View run</a> · started <When at={run.created_at} />
      </p>
    </Item>
  )
}

const Figures = () => {
  const known = useData('runs figures', () =>
    unwrap(api.GET('/console/analytics', { params: { query: { days: '14' } } })),
  )
  return (
    <Shown known={known} rows={1} tall>
      {(data) => (
        <>
          <dl class="figures">
            <div>
              <dt>Runs</dt>
              <dd>{count(data.runs)}</dd>
            </div>
            <div>
              <dt>Success rate</dt>
              <dd>{data.success_rate === null ? '–' : `${Math.round(data.success_rate * 100)}%`}</dd>
            </div>
            <div>
              <dt>Median duration</dt>
              <dd>{data.duration_ms?.median ? duration(data.duration_ms.median) : '–'}</dd>
            </div>
            <div>
              <dt>Active agents</dt>
              <dd>
                {count(data.agents.active)}
                <span class="soft"> of {count(data.agents.installed)}</span>
              </dd>
            </div>
          </dl>
          {data.runs > 0 && <Days days={data.daily} />}
        </>
      )}
    </Shown>
  )
}

export default function Home() {
  const { runs, tasks, questions, approvals, asking, isEmpty } = useWaiting()
  const latest = useData('runs latest', () => unwrap(api.GET('/console/runs', { params: { query: { limit: 5 } } })))
  return (
    <Screen title="Home">
      <section aria-labelledby="needs-you" aria-live="polite" onKeyDown={moveByKey}>
        <h2 id="needs-you">Needs your attention</h2>
        {(approvals.length > 0 || asking.length > 0 || (questions.data?.items.length ?? 0) > 0) && (
          <p class="hint keys">
            With an item selected, <kbd>j</kbd> and <kbd>k</kbd> move through the list, <kbd>a</kbd> goes to Approve or
            Answer and <kbd>r</kbd> to Reject. <kbd>Enter</kbd> decides.
          </p>
        )}
        <Shown known={runs} rows={1} tall>
          {() => approvals.map((run) => <Waiting key={run.id} run={run} />)}
        </Shown>
        <Shown known={questions} rows={1} tall>
          {({ items }) =>
            items.map((asked) => (
              <Item name={`Question of ${asked.agent.name}`} key={asked.step_id}>
                <Questions
                  runId={asked.run_id}
                  agent={asked.agent.name}
                  questions={asked.input_requests}
                  answered={asked.answered}
                  onAnswered={() => void refresh('runs')}
                />
                <p class="hint">
                  <a href={`#/runs/${asked.run_id}`}>View run</a> · asked <When at={asked.created_at} />
                </p>
              </Item>
            ))
          }
        </Shown>
        <Shown known={tasks} rows={2}>
          {() =>
            asking.length > 0 && (
              <ul class="rows">
                {asking.map((task) => (
                  <li key={task.id}>
                    <a class="row folds" data-item href={`#/tasks/${task.id}`}>
                      <span class="grow">
                        <strong>
                          <Name>{task.title}</Name>
                        </strong>
                        <span class="soft">
                          {task.assignee && (
                            <>
                              <Name>{task.assignee.name}</Name> ·{' '}
                            </>
                          )}
                          <When at={task.updated_at} />
                        </span>
                      </span>
                      <State
                        name={task.status}
                        label={task.status === 'discuss' ? 'Needs an answer' : 'Ready for review'}
                      />
                    </a>
                  </li>
                ))}
              </ul>
            )
          }
        </Shown>
        {isEmpty && (
          <Empty title="You’re all caught up">
            <p>Approvals, questions and reports from your agents appear here.</p>
          </Empty>
        )}
      </section>
      <section class="section" aria-labelledby="figures">
        <h2 id="figures">Last 14 days</h2>
        <Figures />
      </section>
      {latest.data && latest.data.items.length > 0 && (
        <section class="section" aria-labelledby="latest">
          <h2 id="latest">Latest runs</h2>
          <ul class="rows">
            {latest.data.items.map((run) => (
              <li key={run.id}>
                <RunRow run={run} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </Screen>
  )
}
