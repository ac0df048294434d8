export { deleteDraft } from './delete-draft.ts'
