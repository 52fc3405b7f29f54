"""The queue's hot statements walk an index, sort nothing, and lock no more than they take."""
