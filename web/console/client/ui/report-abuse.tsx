import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { words } from '../../../ui/format.ts'
import { fieldProblems } from '../../../ui/problem.tsx'
import { api, type Schemas, take } from '../api.ts'

const CATEGORIES = ['malicious', 'misleading', 'data_misuse', 'inappropriate', 'spam', 'other'] as const
type Category = NonNullable<Schemas['ReportAbuse']['category']>

/** A complaint about an agent to the platform’s staff. */
export const ReportAbuse = ({ appId }: { appId: string }) => {
  const [open, setOpen] = useState(false)
  const [category, setCategory] = useState<Category>('other')
  const [text, setText] = useState('')
  const send = async (): Promise<void> => {
    await take(api.POST('/console/abuse-reports', { body: { app_id: appId, category, text: text.trim() } }))
    announce('Thank you. The platform’s staff will look at it.')
    setText('')
  }
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        Report a problem
      </button>
      {open && (
        <Modal title="Report this agent" onClose={() => setOpen(false)}>
          <Form verb="Send" send={send} done={() => setOpen(false)}>
            {(failure) => (
              <>
                <p class="hint">Read by the platform’s staff only, not by the agent’s developer.</p>
                <Field label="What is wrong">
                  {(field) => (
                    <select
                      {...field}
                      value={category}
                      onChange={(event) => setCategory(event.currentTarget.value as Category)}
                    >
                      {CATEGORIES.map((one) => (
                        <option key={one} value={one}>
                          {words(one)}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
                <TextField
                  label="What happened"
                  problem={fieldProblems(failure).text}
                  rows={4}
                  required
                  maxLength={4000}
                  value={text}
                  onText={setText}
                />
              </>
            )}
          </Form>
        </Modal>
      )}
    </>
  )
}
