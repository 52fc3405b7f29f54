"""What alembic calls: run the history on the connection we were handed."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, transactional_ddl=connection.dialect.name != "mysql", render_as_batch=False)
with context.begin_transaction():
    context.run_migrations()
