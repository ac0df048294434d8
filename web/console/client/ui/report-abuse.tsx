import { useState } from 'preact/hooks'
import { api, type Schemas, take } from '../api.ts'
import { words } from '../format.ts'
import { announce } from './announce.tsx'
import { Field, Form, Modal } from './kit.tsx'
import { fieldProblems } from './problem.tsx'

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
                <Field label="What happened" problem={fieldProblems(failure).text}>
                  {(field) => (
                    <textarea
                      {...field}
                      rows={4}
                      required
                      maxLength={4000}
                      value={text}
                      onInput={(event) => setText(event.currentTarget.value)}
                    />
                  )}
                </Field>
              </>
            )}
          </Form>
        </Modal>
      )}
    </>
  )
}
