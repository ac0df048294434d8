export { deleteAccount } from './delete-account.ts'
export { removeMember } from './remove-member.ts'
