import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { Modal } from '../../../ui/dialog.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { navigate } from '../../../ui/router.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { pollNow } from '../live.ts'
import { parseObject } from './parse-object.ts'

type Run = Schemas['WorkspaceRun']

/** Saves a run with its steps as a file. */
export const download = (run: Run): void => {
  const url = URL.createObjectURL(new Blob([JSON.stringify(run, null, 2)], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${run.id}.json`
  link.click()
  URL.revokeObjectURL(url)
}

/** Starts a run with the same input or another one, and shows it. */
export const startAgain = async (run: Run, input?: Record<string, unknown>): Promise<void> => {
  const params = { path: { id: run.id } }
  const made = await unwrap(api.POST('/console/runs/{id}/again', { params, body: { ...(input && { input }) } }))
  announce(t('Run started.'))
  pollNow()
  navigate(`/runs/${made.id}`)
}

/** Edits a run's input as JSON before it starts again. */
export const EditInput = ({ run, onClose }: { run: Run; onClose: () => void }) => {
  const [text, setText] = useState(() => JSON.stringify(run.input, null, 2))
  const input = parseObject(text)
  return (
    <Modal title={t('Run again with another input')} onClose={onClose}>
      <Form verb={t('Start run')} disabled={!input} send={() => startAgain(run, input)} done={onClose}>
        <TextField
          label={t('Input')}
          hint={t('A JSON object.')}
          problem={input ? undefined : t('This isn’t a JSON object.')}
          value={text}
          rows={12}
          spellcheck={false}
          onText={setText}
        />
      </Form>
    </Modal>
  )
}
