// The right side: what limits, what would help, how good the schedule is known to be, what the last
// edit changed, and the comparison with pinned designs.
#pragma once

#include <QWidget>
#include <memory>

class QLabel;
class QTableView;

namespace tcsim::gui {

struct Worths;
class Studio;
class TableModel;

class Verdict : public QWidget {
  Q_OBJECT

 public:
  explicit Verdict(Studio& studio, QWidget* parent = nullptr);

  QString headline() const;  // "Limited by L3-memory"
  QString answer() const;    // what turning one knob has brought; empty if none was turned
  QString words() const;     // what would help
  QTableView* knobs() const { return knobsView_; }

 signals:
  void knobChosen(const QString& knob);  // to see what more of it brings

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void follow();
  void markCurrency();  // what is of another state than the one that is shown is grey

  Studio& studio_;
  QLabel *answer_, *headline_, *figures_, *help_, *crossovers_, *certificate_, *changes_, *notes_,
      *idle_;
  QLabel *crossoversTitle_ = nullptr, *changesTitle_ = nullptr, *notesTitle_ = nullptr,
         *compareTitle_ = nullptr, *helpTitle_ = nullptr, *certificateTitle_ = nullptr,
         *knobsTitle_ = nullptr, *titled_ = nullptr;
  std::shared_ptr<const Worths> knobsOf_;  // that the table of knobs shows
  TableModel *compare_, *knobs_;
  QTableView *compareView_ = nullptr, *knobsView_ = nullptr;
};

}  // namespace tcsim::gui
