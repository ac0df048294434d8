import { useAction } from '../../../ui/act.ts'
import { useData } from '../../../ui/data.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { isAdmin } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { Markdown } from './markdown.tsx'
import type { Message } from './messages.tsx'
import { say } from './say.ts'
import { writtenIn } from './written.ts'

/** Text that the agent had written before its run ended without an answer. */
const Written = ({ runId }: { runId: string }) => {
  const run = useData<Schemas['Run']>(`runs one ${runId}`, () =>
    unwrap(api.GET('/console/runs/{id}', { params: { path: { id: runId } } })),
  )
  const text = writtenIn(run.data?.steps ?? [])
  return text ? (
    <section class="unfinished" aria-label={t('Unfinished answer')}>
      <p class="hint">{t('Unfinished answer')}</p>
      <Markdown text={text} />
    </section>
  ) : null
}

/** Ways to deal with a message without an answer. */
export default function NoReply({ failed, items, id }: { failed: Message; items: readonly Message[]; id: string }) {
  const { busy, failure, act } = useAction()
  const asked = items.find(({ author, run_id }) => author.type === 'user' && run_id === failed.run_id)
  return (
    <>
      {failed.run_id && <Written runId={failed.run_id} />}
      {failed.error_code === 'llm_not_configured' && (
        <p>
          {isAdmin.value
            ? rich(
                '<link>Choose an agent for the main conversation</link> in the settings, or ask the platform’s operator to configure a language model.',
                { link: (text) => <a href="#/settings">{text}</a> },
              )
            : t('Ask an admin of this workspace to choose an agent for the main conversation.')}
        </p>
      )}
      {failure && <Problem failure={failure} />}
      {asked && (
        <p>
          <button
            type="button"
            aria-busy={busy}
            onClick={() =>
              act(() =>
                say(id, {
                  text: asked.text,
                  attachments: asked.attachments.map(({ file_id }) => file_id),
                  ...(asked.mention && { mention: asked.mention.installation_id }),
                }),
              )
            }
          >
            {t('Try again')}
          </button>
        </p>
      )}
    </>
  )
}
