import { visible } from '../../../session/text.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Name, When } from '../../../ui/text.tsx'
import type { Schemas } from '../api.ts'
import { diffCalls } from './diff-calls.ts'

/** Differences to the call of the same kind that was approved last. */
export const Differences = ({
  tool,
  text,
  last,
}: {
  tool: string
  text: string
  last: NonNullable<Schemas['Approval']['last_approved']>
}) => {
  const by = last.decided_by ? <Name>{last.decided_by.name}</Name> : t('somebody')
  const link = <a href={`#/runs/${last.run_id}`}>{t('the last one')}</a>
  if (last.text === null) {
    return (
      <p class="hint">
        {rich('Compare it with {link}, which {by} approved {time}. It’s too long to be compared here.', {
          link,
          by,
          time: <When at={last.decided_at} />,
        })}
      </p>
    )
  }
  const changes = diffCalls(tool, last.text, text)
  if (changes.length === 0) {
    return (
      <p class="hint">
        {rich('Identical to {link}, which {by} approved {time}.', { link, by, time: <When at={last.decided_at} /> })}
      </p>
    )
  }
  return (
    <section class="part">
      <h3>{t('Changes')}</h3>
      <p class="hint">
        {rich('Compared with {link}, which {by} approved {time}.', { link, by, time: <When at={last.decided_at} /> })}
      </p>
      <dl class="tree changed">
        {changes.map(({ place, before, after }) => (
          <div key={place}>
            <dt>{visible(place)}</dt>
            <dd>
              {before !== undefined && (
                <del>
                  <span class="unseen">{t('Before:')} </span>
                  {visible(before)}
                </del>
              )}
              {after !== undefined && (
                <ins>
                  <span class="unseen">{t('Now:')} </span>
                  {visible(after)}
                </ins>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
