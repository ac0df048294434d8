import { useAction } from '../../../ui/act.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { isAdmin } from '../account.ts'
import type { Message } from './messages.tsx'
import { say } from './say.ts'

/** Ways to deal with a message without an answer. */
export default function NoReply({ failed, items, id }: { failed: Message; items: readonly Message[]; id: string }) {
  const { busy, failure, act } = useAction()
  const asked = items.find(({ author, run_id }) => author.type === 'user' && run_id === failed.run_id)
  return (
    <>
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
